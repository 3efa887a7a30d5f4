// The examples for GitHub Actions are YAML of a workflow's shape, and each command in them exists, with the flags it has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <regex>
#include <set>
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

YAML::Node workflow(const std::string& name) { return YAML::LoadFile(DSAFUZZ_SOURCE_DIR "/scripts/examples/" + name); }

TEST(WorkflowExamples, HaveTheShapeOfAWorkflow) {
  EXPECT_TRUE(workflow("regress.yml")["on"]["push"].IsDefined());
  EXPECT_EQ(workflow("regress.yml")["permissions"]["security-events"].as<std::string>(),
            "write");  // SARIF cannot be shown without
  EXPECT_TRUE(std::regex_match(workflow("nightly.yml")["on"]["schedule"][0]["cron"].as<std::string>(),
                               std::regex("[0-9]{1,2} [0-9]{1,2} \\* \\* \\*")));
  for (const char* name : {"regress.yml", "nightly.yml"}) {
    SCOPED_TRACE(name);
    const YAML::Node example = workflow(name);
    ASSERT_GT(example["jobs"].size(), 0u);
    for (const auto& job : example["jobs"]) {
      EXPECT_TRUE(job.second["runs-on"].IsScalar());
      for (const YAML::Node& step : job.second["steps"]) {
        EXPECT_NE(step["run"].IsDefined(), step["uses"].IsDefined()) << YAML::Dump(step);
        if (step["uses"]) {
          EXPECT_TRUE(std::regex_match(step["uses"].as<std::string>(), std::regex("[\\w-]+/[\\w/-]+@v\\d+")));
        }
      }
    }
  }
}

TEST(WorkflowExamples, TheirCommandsAndFlagsExist) {
  std::multiset<std::string> used;
  for (const char* name : {"regress.yml", "nightly.yml"}) {
    for (const auto& words : commands_of(workflow(name))) {
      SCOPED_TRACE(::testing::PrintToString(words));
      if (words.at(0) == "cat") continue;
      ASSERT_TRUE(words[0].starts_with("dsafuzz/"));  // where the workflow checks dsafuzz out
      EXPECT_TRUE(std::filesystem::exists(DSAFUZZ_SOURCE_DIR + words[0].substr(words[0].find('/'))));
      if (!words[0].ends_with("/dsafuzz")) continue;
      const ChildResult help = run_child({DSAFUZZ_PROGRAM, words.at(1), "--help"}, {}, std::chrono::seconds(60));
      ASSERT_EQ(help.exit_code, 0) << help.output;
      for (const std::string& word : words) {
        if (word.starts_with("--")) {
          EXPECT_THAT(help.output, HasSubstr(word + " "));
        }
      }
      used.insert(words[1]);
    }
  }
  // The run and the comparison; the night.
  EXPECT_THAT(used, ::testing::ElementsAre("nightly", "regress", "regress"));
}

// What the second step reads is what the first writes.
TEST(WorkflowExamples, TheComparisonReadsTheRun) {
  const auto commands = commands_of(workflow("regress.yml"));
  const auto run = std::ranges::find_if(commands, [](const auto& w) { return std::ranges::count(w, "--json") > 0; });
  const auto compare =
      std::ranges::find_if(commands, [](const auto& w) { return std::ranges::count(w, "--compare") > 0; });
  ASSERT_NE(run, commands.end());
  ASSERT_NE(compare, commands.end());
  EXPECT_EQ(*std::next(std::ranges::find(*run, "--json")), compare->back());
}

}  // namespace
}  // namespace dsafuzz
