// Campaigns from end to end: real engine processes (this program, called as `engine`), a fake device, a real store.
#include "fuzz/campaign.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fake_executor.h"
#include "fuzz/atomic_file.h"
#include "fuzz/campaign_plan.h"
#include "fuzz/campaign_reader.h"
#include "fuzz/engine.h"
#include "fuzz/progress.h"
#include "repro/case_text.h"
#include "temporary_folder.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

// The planted bugs travel to the engine processes in the environment.
FakeBugs bugs_named(std::string_view name) {
  if (name == "silent") return {.label_asserts = false};
  if (name == "flaky") return {.flaky = 2};
  if (name == "stuck") return {.hang_here_after = 300};
  if (name == "stuck_once") {
    // The first engine leaves a mark for those that come after it.
    const char* mark = std::getenv("DSAFUZZ_FAKE_MARK");
    if (fs::exists(mark)) return {};
    std::ofstream(mark) << "x";
    return {.hang_here_after = 300};
  }
  if (name == "three") return {.nan_crashes = true, .big_batch_hangs = true};
  return {};
}

class FakeRunner : public ReproducerRunner {
 public:
  RunReport run_python(const std::string& path, const Device& device) override {
    EXPECT_TRUE(fs::exists(path)) << path;
    return {true, device.kind == Device::Kind::cpu ? 0 : 1, "said"};
  }
  RunReport run_cpp(const std::string& folder, const Device&) override {
    EXPECT_TRUE(fs::exists(folder + "/repro.cpp") && fs::exists(folder + "/CMakeLists.txt"));
    return {false, 0, "no compiler"};
  }
};

struct CampaignTest : testing::Test {
  TemporaryFolder folder;
  FakeRunner runner;

  CampaignOptions options(const std::string& bugs, std::uint64_t runs, const std::string& out = "out") {
    ::setenv("DSAFUZZ_FAKE_BUGS", bugs.c_str(), 1);
    const std::string file = folder.path() + "/classic.yaml";
    std::ofstream(file) << classic_yaml();
    CampaignOptions o;
    o.scenarios = {file};
    o.runs = runs;
    o.out = folder.path() + "/" + out;
    o.reproducers = &runner;
    o.start_workers = [bugs](const RunSettings& settings) -> Result<std::unique_ptr<Executor>> {
      return std::make_unique<FakeExecutor>(bugs_named(bugs), settings.device);
    };
    return o;
  }
};

std::string text_in(const std::string& path) { return read_whole(path, 1 << 22).value_or("(missing " + path + ")"); }

TEST_F(CampaignTest, FindsReducesConfirmsAndWrites) {
  const auto summary = run_campaign(options("asserts", 400));
  ASSERT_TRUE(summary) << summary.error().text();
  EXPECT_TRUE(summary->problems.empty()) << to_text(*summary);
  EXPECT_EQ(summary->scenarios[0].executions, 400u);
  ASSERT_EQ(summary->findings.size(), 1u) << to_text(*summary);
  const FindingSummary& finding = summary->findings[0];
  EXPECT_EQ(finding.scenario, "classic");
  EXPECT_EQ(finding.confirmed, 5);
  EXPECT_EQ(finding.confirmations, 5);
  EXPECT_TRUE(finding.one_minimal);
  EXPECT_LE(finding.elements, 2) << "one logit and one label";
  for (const char* name : {"case.yaml", "original.yaml", "finding.json", "finding.md", "repro.py", "repro.cpp",
                           "CMakeLists.txt", "log.txt"}) {
    EXPECT_TRUE(fs::exists(finding.folder + "/" + name)) << name;
  }
  const auto minimal = load_case(finding.folder + "/case.yaml");
  ASSERT_TRUE(minimal) << minimal.error().text();
  for (const char* sentence :
       {"`repro.py` was run on vcuda: the bug shows.", "`repro.py` was run on cpu: the bug does not show.",
        "`repro.cpp` could not be run on vcuda here."}) {
    EXPECT_NE(text_in(finding.folder + "/finding.md").find(sentence), std::string::npos) << sentence;
  }
  EXPECT_NE(text_in(finding.folder + "/finding.json").find("\"reproducers\""), std::string::npos);
  EXPECT_EQ(summary->waiting, 0u);

  // Again in the same folder: nothing new.
  const auto again = run_campaign(options("asserts", 400));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->findings.empty()) << to_text(*again);
  EXPECT_EQ(again->known, 1u);
}

TEST_F(CampaignTest, TheSameWhateverJobsSays) {
  std::map<std::string, std::string> minimal[2];
  for (int i = 0; i < 2; ++i) {
    CampaignOptions o = options("three", 2500, "out" + std::to_string(i));
    o.jobs = i == 0 ? 1 : 3;
    const auto summary = run_campaign(o);
    ASSERT_TRUE(summary);
    EXPECT_EQ(summary->findings.size(), 2u) << to_text(*summary);  // the scenario's logits do not vary: no NaN
    for (const FindingSummary& f : summary->findings) {
      for (const char* name : {"case.yaml", "original.yaml", "repro.py"}) {
        minimal[i][f.signature + name] = text_in(f.folder + "/" + name);
      }
    }
  }
  EXPECT_EQ(minimal[0], minimal[1]);
}

TEST_F(CampaignTest, SeveralDevicesShareOneCorpusAndAreAskedAboutEachFinding) {
  CampaignOptions o = options("asserts", 400);
  o.devices = {{Device::Kind::vcuda, 0}, {Device::Kind::vcuda, 1}, {Device::Kind::cpu, 0}};
  const auto summary = run_campaign(o);
  ASSERT_TRUE(summary) << summary.error().text();
  EXPECT_TRUE(summary->problems.empty()) << to_text(*summary);
  ASSERT_EQ(summary->devices.size(), 3u);
  std::uint64_t all = 0;
  for (const DeviceSummary& device : summary->devices) all += device.executions;
  EXPECT_EQ(all, 400u);
  const auto recorded = CampaignReader::open(o.out)->last_run();
  ASSERT_TRUE(recorded && *recorded);
  ASSERT_EQ((*recorded)->devices.size(), 3u);
  for (const DeviceSummary& device : summary->devices) {
    const auto total = std::ranges::find((*recorded)->devices, device.name, &DeviceTotals::name);
    ASSERT_NE(total, (*recorded)->devices.end());
    EXPECT_EQ(total->executions, device.executions);
    EXPECT_EQ(total->findings, device.findings);
  }
  EXPECT_EQ((*recorded)->executions, 400u);
  ASSERT_EQ(summary->findings.size(), 1u) << "met on both, examined once: " << to_text(*summary);
  const FindingSummary& finding = summary->findings[0];
  EXPECT_EQ(finding.device, "vcuda");
  // The fake CPU throws where the fake device asserts.
  ASSERT_EQ(finding.elsewhere.size(), 2u);
  EXPECT_EQ(finding.elsewhere[0], (DeviceCheck{"vcuda:1", 5, 5, ""}));
  EXPECT_EQ(finding.elsewhere[1].device, "cpu");
  EXPECT_EQ(finding.elsewhere[1].confirmed, 0);
  EXPECT_EQ(finding.elsewhere[1].of, 5);
  EXPECT_NE(finding.elsewhere[1].instead.find("host_reject"), std::string::npos) << finding.elsewhere[1].instead;
  EXPECT_EQ(summary->devices[0].findings, 1u);
  EXPECT_EQ(summary->devices[1].findings, 0u);
  EXPECT_EQ(summary->devices[1].shows, 1u);
  EXPECT_EQ(summary->devices[2].shows, 0u);
  EXPECT_NE(to_text(*summary).find("confirmed: 5 of 5 on vcuda; vcuda:1: 5 of 5; cpu: 0 of 5 (host_reject"),
            std::string::npos)
      << to_text(*summary);
}

TEST_F(CampaignTest, ADeviceWithoutWorkersDoesNotLoseTheFinding) {
  CampaignOptions o = options("asserts", 200);
  o.devices = {{Device::Kind::vcuda, 0}, {Device::Kind::vcuda, 1}};
  o.start_workers = [start = o.start_workers](const RunSettings& settings) -> Result<std::unique_ptr<Executor>> {
    if (settings.device.index == 1) return environment_problem("the second device is gone");
    return start(settings);
  };
  const auto summary = run_campaign(o);
  ASSERT_TRUE(summary) << summary.error().text();
  ASSERT_EQ(summary->findings.size(), 1u) << to_text(*summary);
  EXPECT_EQ(summary->findings[0].device, "vcuda");
  EXPECT_EQ(summary->findings[0].elsewhere, (std::vector<DeviceCheck>{{"vcuda:1", 0, 0, "the second device is gone"}}));
}

TEST_F(CampaignTest, AskingTheCpuTurnsSuspectsIntoSilentFindings) {
  const auto summary = run_campaign(options("silent", 600));
  ASSERT_TRUE(summary) << summary.error().text();
  ASSERT_EQ(summary->findings.size(), 1u) << to_text(*summary);
  EXPECT_TRUE(fs::path(summary->findings[0].folder).filename().string().starts_with("silent-"));
  EXPECT_LE(summary->findings[0].elements, 2);
}

TEST_F(CampaignTest, AFlakyFindingSaysSo) {
  const auto summary = run_campaign(options("flaky", 400));
  ASSERT_TRUE(summary);
  ASSERT_EQ(summary->findings.size(), 1u) << to_text(*summary);
  EXPECT_LT(summary->findings[0].confirmed, summary->findings[0].confirmations);
  EXPECT_GT(summary->findings[0].confirmed, 0);
}

TEST_F(CampaignTest, CandidatesOfAKilledCampaignAreExaminedFirst) {
  CampaignOptions o = options("stuck", 0);
  const pid_t child = ::fork();
  if (child == 0) {
    o.start_workers = [](const RunSettings&) -> Result<std::unique_ptr<Executor>> {
      ::sleep(600);  // the examiner never gets anywhere
      return environment_problem("no");
    };
    (void)run_campaign(o);
    ::_exit(0);
  }
  const auto waiting = [&] {
    const auto store = Store::open(o.out, Store::Access::shared);
    return store ? store->candidate_count() : 0;
  };
  for (int i = 0; i < 200 && waiting() == 0; ++i) ::usleep(50'000);
  ::usleep(700'000);  // until the engine is stuck in a run
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(waiting(), 1u);
  ::usleep(100'000);  // for the kernel to end the engine after its parent
  const auto summary = run_campaign(options("asserts", 1));
  ASSERT_TRUE(summary) << summary.error().text();
  EXPECT_EQ(summary->findings.size(), 1u) << to_text(*summary);
  EXPECT_EQ(summary->waiting, 0u);
}

TEST_F(CampaignTest, AKilledEngineIsStartedAgain) {
  CampaignOptions o = options("stuck_once", 2000);
  ::setenv("DSAFUZZ_FAKE_MARK", (folder.path() + "/mark").c_str(), 1);
  const pid_t killer = ::fork();
  if (killer == 0) {
    // The engine is our parent's other child.
    const pid_t parent = ::getppid();
    ::usleep(2'000'000);
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string pid = entry.path().filename().string();
      if (pid.find_first_not_of("0123456789") != std::string::npos || pid == std::to_string(::getpid())) continue;
      std::ifstream stat(entry.path() / "stat");
      std::string text((std::istreambuf_iterator<char>(stat)), {});
      const std::size_t paren = text.rfind(')');
      if (paren == std::string::npos) continue;
      if (std::atoi(text.c_str() + paren + 4) == parent) ::kill(std::atoi(pid.c_str()), SIGKILL);
    }
    ::_exit(0);
  }
  const auto summary = run_campaign(o);
  int status = 0;
  ::waitpid(killer, &status, 0);
  ASSERT_TRUE(summary);
  ASSERT_EQ(summary->problems.size(), 1u) << to_text(*summary);
  EXPECT_GE(summary->scenarios[0].executions, 1700u);
  EXPECT_NE(summary->problems[0].find("signal 9"), std::string::npos) << to_text(*summary);
  EXPECT_EQ(summary->findings.size(), 1u) << to_text(*summary);
}

TEST_F(CampaignTest, CtrlCKeepsCandidates) {
  CampaignOptions o = options("asserts", 0);
  const pid_t interrupter = ::fork();
  if (interrupter == 0) {
    ::usleep(1'500'000);
    ::kill(::getppid(), SIGINT);
    ::_exit(0);
  }
  const auto summary = run_campaign(o);
  int status = 0;
  ::waitpid(interrupter, &status, 0);
  ASSERT_TRUE(summary);
  EXPECT_TRUE(summary->interrupted);
  EXPECT_EQ(summary->findings.size() + summary->waiting, 1u) << to_text(*summary);
  EXPECT_TRUE(summary->problems.empty()) << to_text(*summary);
}

TEST_F(CampaignTest, WrongInputIsAProblem) {
  CampaignOptions o = options("asserts", 10);
  o.scenarios.push_back(o.scenarios[0]);
  EXPECT_EQ(run_campaign(o).error().exit_code(), 2);
  o.scenarios = {folder.path() + "/missing.yaml"};
  EXPECT_FALSE(run_campaign(o));
  o.scenarios.clear();
  EXPECT_FALSE(run_campaign(o));
  o = options("asserts", 10);
  o.program = folder.path() + "/missing";
  EXPECT_EQ(run_campaign(o).error().exit_code(), 3);
  fs::create_directories(folder.path() + "/seeds/classic");
  std::ofstream(folder.path() + "/seeds/classic/a.yaml") << "case: other\n";
  o = options("asserts", 10);
  o.seeds = folder.path() + "/seeds";
  EXPECT_FALSE(run_campaign(o));
}

TEST(CampaignPlan, SharesOutRunsAndTime) {
  struct Row {
    const char* name;
    std::size_t scenarios;
    std::uint64_t runs;
    double seconds;
    std::size_t jobs;
    std::vector<PlannedEngine> expected;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"one of all", 1, 10, 0, 1, {{0, 0, 10, 0}}},
           {"jobs do not split few runs", 1, 10, 0, 8, {{0, 0, 10, 0}}},
           {"many runs are split, whatever the jobs", 1, 100'001, 0, 1, {{0, 0, 50'001, 0}, {0, 1, 50'000, 0}}},
           {"time: every job works", 1, 0, 60, 2, {{0, 0, 0, 60}, {0, 1, 0, 60}}},
           {"time: scenarios take turns", 2, 0, 60, 1, {{0, 0, 0, 30}, {1, 0, 0, 30}}},
           {"time: jobs left over go round", 2, 0, 60, 3, {{0, 0, 0, 60}, {1, 0, 0, 60}, {0, 1, 0, 60}}}}) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(plan_engines(row.scenarios, row.runs, row.seconds, row.jobs), row.expected);
  }
}

TEST(CampaignPlan, GivesEveryDeviceItsShare) {
  struct Row {
    const char* name;
    std::size_t scenarios;
    std::uint64_t runs;
    double seconds;
    std::size_t jobs, devices;
    std::vector<PlannedEngine> expected;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"runs are split over devices", 1, 11, 0, 2, 2, {{0, 0, 6, 0, 0}, {0, 1, 5, 0, 1}}},
           {"whatever the jobs", 1, 11, 0, 9, 2, {{0, 0, 6, 0, 0}, {0, 1, 5, 0, 1}}},
           {"no engine without runs", 1, 1, 0, 3, 3, {{0, 0, 1, 0, 0}}},
           {"many runs: devices take turns",
            1,
            150'000,
            0,
            2,
            2,
            {{0, 0, 50'000, 0, 0}, {0, 1, 50'000, 0, 1}, {0, 2, 50'000, 0, 0}}},
           {"time: all devices work at once", 1, 0, 60, 2, 2, {{0, 0, 0, 60, 0}, {0, 1, 0, 60, 1}}},
           {"both scenarios on both devices, which are busy from the start",
            2,
            0,
            60,
            2,
            2,
            {{0, 0, 0, 30, 0}, {1, 0, 0, 30, 1}, {0, 1, 0, 30, 1}, {1, 1, 0, 30, 0}}}}) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(plan_engines(row.scenarios, row.runs, row.seconds, row.jobs, row.devices), row.expected);
  }
}

TEST(ProgressLine, SaysWhatAPersonAsks) {
  ProgressFacts facts{.doing = "fuzzing",
                      .executions = 12'345,
                      .per_second = 1234,
                      .features = 431,
                      .findings = 2,
                      .candidates = 1,
                      .engines = 4,
                      .restarts = 0,
                      .seconds_left = 48,
                      .runs_left = {}};
  EXPECT_EQ(progress_line(facts),
            "fuzzing  12k runs, 1.2k/s | 431 features | 2 findings, 1 to examine | 4 engines | 0:48 left");
  facts = {.doing = "examining",
           .executions = 0,
           .per_second = 0,
           .features = 1,
           .findings = 1,
           .candidates = 0,
           .engines = 0,
           .restarts = 1,
           .seconds_left = {},
           .runs_left = 999};
  EXPECT_EQ(progress_line(facts),
            "examining  0 runs, 0/s | 1 feature | 1 finding | 0 engines, 1 restart | 999 runs left");
}

}  // namespace
}  // namespace dsafuzz

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "engine") {
    using namespace dsafuzz;
    const auto options = parse_engine_arguments(std::vector<std::string>(argv + 2, argv + argc));
    if (!options) return options.error().exit_code();
    const char* bugs = std::getenv("DSAFUZZ_FAKE_BUGS");
    FakeExecutor executor(bugs_named(bugs ? bugs : ""), options->settings.device);
    return run_engine(*options, executor);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
