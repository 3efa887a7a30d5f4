#include "fuzz/starting_cases.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "fuzz/mutate.h"
#include "repro/case_text.h"

namespace dsafuzz {

namespace fs = std::filesystem;

Result<void> add_starting_cases(Store& store, const Scenario& scenario, bool from_legal) {
  if (!from_legal) DSAFUZZ_CHECK(store.add_to_corpus(scenario.base));
  const auto healthy = healthy_base(scenario);
  return healthy ? store.add_to_corpus(*healthy) : Result<void>();
}

Result<void> add_seeds(Store& store, const Scenario& scenario, const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(fs::path(folder) / scenario.name, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() == ".yaml") files.push_back(at->path());
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const Case c = DSAFUZZ_TRY(load_case(file.string()));
    if (!belongs(scenario, c)) {
      return input_problem("is not a variant of scenario '" + scenario.name + "'", file.string(),
                           "a seed differs from the scenario in nothing but what may vary");
    }
    DSAFUZZ_CHECK(store.add_to_corpus(c));
  }
  return {};
}

}  // namespace dsafuzz
