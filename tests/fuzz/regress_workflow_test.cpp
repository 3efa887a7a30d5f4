// The example for GitHub Actions is YAML of a workflow's shape, and each command in it exists, with the flags it has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "fuzz/child_process.h"

namespace dsafuzz {
namespace {

using ::testing::HasSubstr;

// The steps that call a script of ours, each as its words: {"dsafuzz/scripts/dsafuzz", "regress", "$CASES", ...}.
std::vector<std::vector<std::string>> commands_of(const YAML::Node& workflow) {
  std::vector<std::vector<std::string>> out;
  for (const auto& job : workflow["jobs"]) {
    for (const YAML::Node& step : job.second["steps"]) {
      if (!step["run"]) continue;
      std::istringstream words(step["run"].as<std::string>());
      out.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
    }
  }
  return out;
}

TEST(RegressWorkflow, HasTheShapeOfAWorkflow) {
  const YAML::Node workflow = YAML::LoadFile(DSAFUZZ_SOURCE_DIR "/scripts/examples/regress.yml");
  EXPECT_TRUE(workflow["on"]["push"].IsDefined());
  EXPECT_EQ(workflow["permissions"]["security-events"].as<std::string>(), "write");  // SARIF cannot be shown without
  ASSERT_GT(workflow["jobs"].size(), 0u);
  for (const auto& job : workflow["jobs"]) {
    EXPECT_TRUE(job.second["runs-on"].IsScalar());
    for (const YAML::Node& step : job.second["steps"]) {
      EXPECT_NE(step["run"].IsDefined(), step["uses"].IsDefined()) << YAML::Dump(step);
      if (step["uses"]) {
        EXPECT_TRUE(std::regex_match(step["uses"].as<std::string>(), std::regex("[\\w-]+/[\\w/-]+@v\\d+")));
      }
    }
  }
}

TEST(RegressWorkflow, ItsCommandsAndFlagsExist) {
  const auto commands = commands_of(YAML::LoadFile(DSAFUZZ_SOURCE_DIR "/scripts/examples/regress.yml"));
  std::size_t regressions = 0;
  for (const auto& words : commands) {
    SCOPED_TRACE(::testing::PrintToString(words));
    ASSERT_TRUE(words.at(0).starts_with("dsafuzz/"));  // where the workflow checks dsafuzz out
    EXPECT_TRUE(std::filesystem::exists(DSAFUZZ_SOURCE_DIR + words[0].substr(words[0].find('/'))));
    if (!words[0].ends_with("/dsafuzz")) continue;
    const ChildResult help = run_child({DSAFUZZ_PROGRAM, words.at(1), "--help"}, {}, std::chrono::seconds(60));
    ASSERT_EQ(help.exit_code, 0) << help.output;
    for (const std::string& word : words) {
      if (word.starts_with("--")) {
        EXPECT_THAT(help.output, HasSubstr(word + " "));
      }
    }
    regressions += words[1] == "regress";
  }
  EXPECT_EQ(regressions, 2u);  // the run and the comparison
}

// What the second step reads is what the first writes.
TEST(RegressWorkflow, TheComparisonReadsTheRun) {
  const auto commands = commands_of(YAML::LoadFile(DSAFUZZ_SOURCE_DIR "/scripts/examples/regress.yml"));
  const auto run = std::ranges::find_if(commands, [](const auto& w) { return std::ranges::count(w, "--json") > 0; });
  const auto compare =
      std::ranges::find_if(commands, [](const auto& w) { return std::ranges::count(w, "--compare") > 0; });
  ASSERT_NE(run, commands.end());
  ASSERT_NE(compare, commands.end());
  EXPECT_EQ(*std::next(std::ranges::find(*run, "--json")), compare->back());
}

}  // namespace
}  // namespace dsafuzz
