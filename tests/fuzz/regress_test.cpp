// A corpus on disk, run on devices without processes: what is found, what is expected of it, and what comes of it.
#include "fuzz/regress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "fake_executor.h"
#include "repro/case_text.h"
#include "tests/fuzz/temporary_folder.h"

namespace dsafuzz {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kAssert = "verdict: device_assert\n";

class RegressTest : public ::testing::Test {
 protected:
  void write(const std::string& name, std::string_view text) {
    const std::string path = folder_.path() + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }
  static std::string case_text(bool bad) {
    Case c = classic_scenario().base;
    for (TensorSpec& t : c.tensors) {
      if (bad && t.name == "labels") t.set = {{0, std::int64_t{1000}}};
    }
    return to_yaml(c);
  }
  void write_case(const std::string& name, bool bad, std::string_view expect) {
    write(name + "/case.yaml", case_text(bad));
    if (!expect.empty()) write(name + "/expect.yaml", expect);
  }
  RegressRun run(FakeBugs bugs = {}, std::size_t jobs = 2) {
    RegressOptions o;
    o.cases = find_cases({folder_.path()}).value();
    o.jobs = jobs;
    o.start_workers = [bugs](const RunSettings& s) -> Result<std::unique_ptr<Executor>> {
      return std::make_unique<FakeExecutor>(bugs, s.device);
    };
    o.progress = [this](std::size_t done, std::size_t all) { last_ = {done, all}; };
    return run_regress(o).value();
  }
  TemporaryFolder folder_;
  std::pair<std::size_t, std::size_t> last_;
};

std::vector<std::string> names(const std::vector<CasePath>& cases) {
  std::vector<std::string> out;
  for (const CasePath& c : cases) out.push_back(c.name);
  return out;
}

std::vector<std::string> told(const RegressRun& run) {
  std::vector<std::string> out;
  for (const RegressRow& row : run.rows) out.push_back(std::string(to_text(row.status)) + " " + row.name);
  return out;
}

TEST_F(RegressTest, CasesAreFoundInFoldersBelowAndLooseOnes) {
  write_case("deep/er/one", true, kAssert);
  write("deep/er/one/original.yaml", case_text(true));  // belongs to the case's folder
  write("loose.yaml", case_text(true));
  write("scenario.yaml", classic_yaml());
  write("notes.txt", "case: no\n");
  write("broken.yaml", "case: [\n");
  write("lonely/expect.yaml", kAssert);
  const std::string root = folder_.path();
  const auto all = find_cases({root + "/"});
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_THAT(names(*all), ElementsAre("broken.yaml", "deep/er/one", "lonely", "loose.yaml"));
  EXPECT_THAT(names(find_cases({root + "/deep/er/one"}).value()), ElementsAre("one"));
  EXPECT_THAT(names(find_cases({root + "/loose.yaml"}).value()), ElementsAre("loose.yaml"));
  EXPECT_THAT(names(find_cases({root + "/deep", root + "/deep/er/../er/one", root + "/loose.yaml"}).value()),
              ElementsAre(root + "/deep/er/one", root + "/loose.yaml"));
  EXPECT_FALSE(find_cases({root + "/nothing"}));
  std::filesystem::create_directory(root + "/empty");
  const auto none = find_cases({root + "/empty"});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("no case here"));
}

TEST_F(RegressTest, EachCaseIsComparedWithWhatIsExpectedOfIt) {
  write_case("good", false, "verdict: ok\n");
  write_case("bad", true, kAssert);
  write_case("lost", false, kAssert);
  write_case("new", true, "verdict: ok\n");
  write_case("elsewhere", true, "verdict: device_assert\nsignature: \"X.cu other `i`\"\n");
  write_case("open", true, "");
  write("broken/case.yaml", "case: [\n");
  write_case("words", true, "verdict: perhaps\n");
  write("lonely/expect.yaml", kAssert);
  write("loose.yaml", case_text(false));
  EXPECT_THAT(told(run()), ElementsAre("differs elsewhere", "differs lost", "differs new", "unreadable broken",
                                       "unreadable lonely", "unreadable words", "no_expectation loose.yaml",
                                       "no_expectation open", "as_expected bad", "as_expected good"));
  EXPECT_EQ(last_, std::pair(std::size_t{7}, std::size_t{7}));
}

TEST_F(RegressTest, AFindingIsExpectedToShowItsSignatureAgain) {
  const auto finding = [](const Signature& s) {
    return R"({"version": 1, "signature": {"verdict": "device_assert", "op": ")" + s.op + R"(", "file": ")" + s.file +
           R"(", "kernel": ")" + s.kernel + R"(", "condition": ")" + s.condition + "\"}}";
  };
  write_case("same", true, "");
  const auto probe = run();
  write("same/finding.json", finding(*probe.rows.at(0).seen));
  write_case("other", true, "");
  write("other/finding.json", finding({Verdict::device_assert, "", "X.cu", "other", "i"}));
  write_case("unreadable_json", true, "");
  write("unreadable_json/finding.json", "{");
  EXPECT_THAT(told(run()), ElementsAre("differs other", "no_expectation unreadable_json", "as_expected same"));
}

TEST_F(RegressTest, ADifferenceIsConfirmedInFreshProcesses) {
  write_case("c", true, "verdict: ok\n");
  const RegressRun sure = run();
  EXPECT_EQ(sure.rows.at(0).status, RegressStatus::differs);
  EXPECT_EQ(std::pair(sure.rows[0].differed, sure.rows[0].runs), std::pair(5, 5));
  // The fake shows it in every second process; the first is fine and the case expects a fault.
  write_case("c", true, kAssert);
  const RegressRun unsure = run({.flaky = 2});
  EXPECT_EQ(unsure.rows.at(0).status, RegressStatus::flaky);
  EXPECT_EQ(std::pair(unsure.rows[0].differed, unsure.rows[0].runs), std::pair(3, 5));
  EXPECT_THAT(row_text(unsure.rows[0]), HasSubstr("expected device_assert, seen silent at aten::cross_entropy_loss: "
                                                  "`target: not in [0, classes)` (3 of 5 runs)"));
}

TEST_F(RegressTest, TheAnswerDoesNotDependOnTheNumberOfJobs) {
  for (int i = 0; i < 12; ++i) write_case("c" + std::to_string(i), i % 2 == 0, i % 3 == 0 ? kAssert : "verdict: ok\n");
  const auto one = told(run({}, 1));
  for (const std::size_t jobs : {2, 5, 40}) EXPECT_EQ(told(run({}, jobs)), one);
}

TEST_F(RegressTest, WithoutAWorkerThereIsNoAnswer) {
  write_case("c", true, kAssert);
  RegressOptions o;
  o.cases = find_cases({folder_.path()}).value();
  o.start_workers = [](const RunSettings&) -> Result<std::unique_ptr<Executor>> {
    return environment_problem("no worker");
  };
  const auto result = run_regress(o);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().exit_code(), 3);
}

}  // namespace
}  // namespace dsafuzz
