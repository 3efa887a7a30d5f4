// Contracts against everything that is known to be healthy, and everything that is known to be wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "repro/breach.h"
#include "repro/case_text.h"
#include "repro/expected.h"
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
    const auto expected = load_expected(file.parent_path() / "expect.yaml");
    ASSERT_TRUE(expected) << expected.error().text();
    const auto breach = first_breach(*c);
    if (expected->verdict == Verdict::ok) {
      EXPECT_FALSE(breach) << name << " " << breach->text();
    } else if (breach) {
      ++known;
    }
  }
  EXPECT_GE(known, 45);
}

// What a scenario's default does wrong is seen without running it.
TEST(ContractCorpus, DefaultsOfFailingScenarios) {
  // Two values are computed before they are checked; one default is wrong in its dtype only, two in their devices; one
  // index is never followed.
  constexpr std::array<std::string_view, 6> kWithout{
      "assert_async",         "data_parallel",   "mixed_precision_cross_entropy",
      "data_parallel_labels", "device_mismatch", "index_select_empty"};
  for (const auto& file : files_under(kSource / "scenarios")) {
    const auto scenario = load_scenario(file);
    if (!scenario || scenario->only_legal || std::ranges::find(kWithout, scenario->name) != kWithout.end()) continue;
    const auto is_custom = [](const Step& step) { return step.op.starts_with("dsafuzz::"); };
    if (std::ranges::any_of(scenario->base.steps, is_custom)) continue;  // our own kernels have no contract
    EXPECT_TRUE(first_breach(scenario->base)) << file;
  }
}

}  // namespace
}  // namespace dsafuzz
