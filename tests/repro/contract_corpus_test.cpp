// Contracts against everything that is known to be healthy, and everything that is known to be wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "repro/breach.h"
#include "repro/case_text.h"
#include "repro/scenario.h"

namespace dsafuzz {
namespace {

const std::filesystem::path kSource = DSAFUZZ_SOURCE_DIR;

std::vector<std::filesystem::path> files_under(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  EXPECT_FALSE(files.empty()) << folder;
  return files;
}

TEST(ContractCorpus, NoHealthyTwinOrSeedBreaksAContract) {
  for (const auto& file : files_under(kSource / "scenarios")) {
    const auto scenario = load_scenario(file);
    ASSERT_TRUE(scenario) << scenario.error().text();
    if (!scenario->only_legal) continue;
    const auto breach = first_breach(scenario->base);
    EXPECT_FALSE(breach) << file << " " << breach->text();
  }
  for (const auto& file : files_under(kSource / "corpus" / "seeds")) {
    const auto seed = load_case(file);
    ASSERT_TRUE(seed) << seed.error().text();
    const auto breach = first_breach(*seed);
    EXPECT_FALSE(breach) << file << " " << breach->text();
  }
}

// A case that the corpus expects to fail at an index breaks a contract, and a control breaks none.
TEST(ContractCorpus, RegressionsAndControls) {
  int known = 0;
  for (const auto& file : files_under(kSource / "corpus" / "regressions")) {
    if (file.filename() != "case.yaml") continue;
    const std::string name = file.parent_path().filename();
    const auto c = load_case(file);
    ASSERT_TRUE(c) << c.error().text();
    const auto breach = first_breach(*c);
    if (name.starts_with("control_") || name.ends_with("_ok")) {
      EXPECT_FALSE(breach) << name << " " << breach->text();
    } else if (breach) {
      ++known;
    }
  }
  EXPECT_GE(known, 45);
}

// What a scenario's default does wrong is seen without running it.
TEST(ContractCorpus, DefaultsOfFailingScenarios) {
  // Custom kernels have no contract; one value is computed before it is checked; one default is wrong in its dtype
  // only.
  constexpr std::array<std::string_view, 4> kWithout{"custom_kernel_without_bounds_check", "use_after_free",
                                                     "assert_async", "mixed_precision_cross_entropy"};
  for (const auto& file : files_under(kSource / "scenarios")) {
    const auto scenario = load_scenario(file);
    if (!scenario || scenario->only_legal || std::ranges::find(kWithout, scenario->name) != kWithout.end()) continue;
    EXPECT_TRUE(first_breach(scenario->base)) << file;
  }
}

}  // namespace
}  // namespace dsafuzz
