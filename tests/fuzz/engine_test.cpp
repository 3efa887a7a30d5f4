// The engine over a fake device, each time in a child process, since libFuzzer does not return.
#include "fuzz/engine.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fake_executor.h"
#include "fuzz/atomic_file.h"
#include "fuzz/engine_status.h"
#include "fuzz/store.h"
#include "repro/case_text.h"
#include "temporary_folder.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

struct EngineRun {
  int status = 0;  // waitpid's
  EngineStatus last;
};

pid_t start_child(const Scenario& scenario, const EngineOptions& options, FakeBugs bugs) {
  const pid_t child = ::fork();
  if (child == 0) {
    FakeExecutor executor(bugs, options.settings.device);
    ::_exit(run_engine(options, scenario, executor));
  }
  return child;
}

EngineRun fuzz(const Scenario& scenario, EngineOptions options, FakeBugs bugs = {}) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  options.status_fd = ends[1];
  const pid_t child = start_child(scenario, options, bugs);
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  EngineRun run;
  EXPECT_EQ(::waitpid(child, &run.status, 0), child);
  if (!text.empty()) {
    text.pop_back();
    const std::size_t newline = text.rfind('\n');
    run.last = parse_status(newline == std::string::npos ? text : text.substr(newline + 1)).value_or(EngineStatus{});
  }
  return run;
}

bool ended_well(const EngineRun& run) { return WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0 && run.last.done; }

std::vector<Candidate> candidates_in(const std::string& out) {
  return Store::open(out, Store::Access::shared)->candidates();
}

// Names and contents of the files under a folder.
std::map<std::string, std::string> files_in(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[fs::relative(entry.path(), folder).string()] = *read_whole(entry.path().string(), 1 << 22);
  }
  return files;
}

EngineOptions options_for(const TemporaryFolder& folder, std::uint64_t seed, std::uint64_t runs) {
  EngineOptions options;
  options.out = folder.path();
  options.seed = seed;
  options.runs = runs;
  return options;
}

TEST(Engine, FindsTheClassicForAnySeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const TemporaryFolder folder;
    const EngineRun run = fuzz(classic_scenario(), options_for(folder, seed, 200));
    ASSERT_TRUE(ended_well(run)) << run.last.problem;
    EXPECT_EQ(run.last.executions, 200u);
    const auto candidates = candidates_in(folder.path());
    ASSERT_EQ(candidates.size(), 1u) << "one signature, one candidate";
    EXPECT_EQ(candidates[0].signature.verdict, Verdict::device_assert);
    EXPECT_EQ(candidates[0].signature.condition, "t >= 0 && t < n_classes");
    EXPECT_EQ(run.last.candidates, 1u);
  }
}

TEST(Engine, KeepsGoingAfterEveryKindOfFinding) {
  const TemporaryFolder folder;
  const EngineRun run =
      fuzz(classic_scenario(), options_for(folder, 1, 5000), {.nan_crashes = true, .big_batch_hangs = true});
  ASSERT_TRUE(ended_well(run)) << run.last.problem;
  std::set<Verdict> verdicts;
  for (const Candidate& c : candidates_in(folder.path())) verdicts.insert(c.signature.verdict);
  EXPECT_EQ(verdicts, (std::set{Verdict::device_assert, Verdict::crash, Verdict::hang}));
  EXPECT_EQ(run.last.executions, 5000u);
  EXPECT_GT(run.last.restarts, 0u);
  EXPECT_GT(run.last.features, 20u);
  EXPECT_GT(run.last.corpus, 5u);
}

TEST(Engine, AHealthyTwinIsSilent) {
  const TemporaryFolder folder;
  const EngineRun run = fuzz(healthy_scenario(), options_for(folder, 1, 5000));
  ASSERT_TRUE(ended_well(run)) << run.last.problem;
  for (const Candidate& c : candidates_in(folder.path())) ADD_FAILURE() << c.name() << "\n" << to_yaml(c.the_case);
}

TEST(Engine, AcceptedIllegalValuesAreSuspectsOneForEachClass) {
  const TemporaryFolder folder;
  const EngineRun run = fuzz(classic_scenario(false), options_for(folder, 1, 3000), {.label_asserts = false});
  ASSERT_TRUE(ended_well(run)) << run.last.problem;
  std::set<std::string> conditions;
  for (const Candidate& c : candidates_in(folder.path())) {
    EXPECT_EQ(c.kind, Candidate::Kind::suspect);
    EXPECT_TRUE(conditions.insert(c.signature.condition).second);
  }
  for (const char* expected : {"at the end", "above", "below", "far below", "legal in 32 bits"}) {
    EXPECT_TRUE(conditions.contains("suspect: labels " + std::string(expected))) << expected;
  }
}

TEST(Engine, TwoRunsWithOneSeedWriteTheSame) {
  const TemporaryFolder first, second, other;
  const FakeBugs bugs{.nan_crashes = true, .big_batch_hangs = true};
  FakeBugs slower = bugs;
  slower.sleep_us = 100;
  ASSERT_TRUE(ended_well(fuzz(classic_scenario(), options_for(first, 11, 3000), bugs)));
  ASSERT_TRUE(ended_well(fuzz(classic_scenario(), options_for(second, 11, 3000), slower)));
  ASSERT_TRUE(ended_well(fuzz(classic_scenario(), options_for(other, 12, 3000), bugs)));
  for (const char* part : {"corpus", "candidates"}) {
    SCOPED_TRACE(part);
    const auto a = files_in(first.path() + "/" + part), b = files_in(second.path() + "/" + part);
    EXPECT_GT(a.size(), 3u);
    EXPECT_EQ(a, b);
    EXPECT_NE(a, files_in(other.path() + "/" + part)) << "another seed goes another way";
  }
}

TEST(Engine, ResumesFromItsCorpusAndLeavesKnownFindingsAlone) {
  const TemporaryFolder folder;
  const EngineRun first = fuzz(classic_scenario(), options_for(folder, 1, 2000));
  ASSERT_TRUE(ended_well(first));
  {
    Store store = *Store::open(folder.path(), Store::Access::exclusive);
    EXPECT_GT(*store.absorb_additions(), 5);
    for (const Candidate& c : store.candidates()) {
      StagedFinding staged = *store.stage(c.signature);
      ASSERT_TRUE(staged.publish());
      store.remove_candidate(c);
    }
  }
  const std::size_t corpus = Store::open(folder.path(), Store::Access::shared)->corpus("classic")->size();
  const EngineRun second = fuzz(classic_scenario(), options_for(folder, 2, corpus + 5));
  ASSERT_TRUE(ended_well(second));
  EXPECT_GE(second.last.features + 5, first.last.features) << "the corpus holds what was reached";
  EXPECT_TRUE(candidates_in(folder.path()).empty());
}

TEST(Engine, AKilledEngineLosesNothing) {
  const TemporaryFolder folder;
  const pid_t child = start_child(classic_scenario(), options_for(folder, 1, 0), {.hang_here_after = 500});
  const std::string running = folder.path() + "/running/classic-0";
  // It hangs in its 501st run; by then the classic is on disk.
  for (int i = 0; i < 200 && candidates_in(folder.path()).empty(); ++i) ::usleep(50'000);
  ::usleep(500'000);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  Store store = *Store::open(folder.path(), Store::Access::exclusive);
  EXPECT_EQ(store.candidate_count(), 1u);
  EXPECT_EQ(*store.recover_interrupted(), 1);
  EXPECT_EQ(store.candidates().size(), 2u);
  EXPECT_GT(*store.absorb_additions(), 0) << "what the engine had added is kept too";
}

TEST(Engine, StopsWhenAsked) {
  for (int signal : {SIGINT, SIGTERM}) {
    SCOPED_TRACE(signal);
    const TemporaryFolder folder;
    const pid_t child = start_child(classic_scenario(), options_for(folder, 1, 0), {});
    while (!fs::exists(folder.path() + "/running/classic-0")) ::usleep(10'000);
    ::usleep(300'000);
    ::kill(child, signal);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(candidates_in(folder.path()).size(), 1u);
  }
}

TEST(Engine, StopsAtItsTime) {
  const TemporaryFolder folder;
  EngineOptions options = options_for(folder, 1, 0);
  options.seconds = 0.5;
  const EngineRun run = fuzz(classic_scenario(), options);
  EXPECT_TRUE(ended_well(run));
  EXPECT_GE(run.last.seconds, 0.5);
  EXPECT_LT(run.last.seconds, 5);
}

TEST(Engine, OptionsTravelThroughArguments) {
  EngineOptions options;
  EXPECT_EQ(*parse_engine_arguments(to_arguments(options)), options);
  options = {.scenario = "a b=c.yaml",
             .out = "/x,y",
             .index = 3,
             .seed = UINT64_MAX,
             .runs = 9,
             .seconds = 0.1,
             .known_every = 64,
             .status_fd = 3,
             .parent = 77,
             .settings = {}};
  options.settings.device = *parse_device("cuda:1");
  options.settings.blocking = options.settings.caching = options.settings.cpp_stacks = true;
  options.settings.tool = Tool::synccheck;
  options.settings.time_limit = std::chrono::milliseconds(1);
  options.settings.memory_bytes = 5;
  EXPECT_EQ(*parse_engine_arguments(to_arguments(options)), options);
  for (const char* wrong : {"--runs=x", "--runs", "--device=tpu", "runs=3", "--other=1", "--blocking=yes"}) {
    EXPECT_FALSE(parse_engine_arguments(std::vector<std::string>{wrong})) << wrong;
  }
}

TEST(EngineStatus, ReadsBack) {
  const EngineStatus status{.executions = 5,
                            .seconds = 1.5,
                            .features = 2,
                            .corpus = 3,
                            .candidates = 4,
                            .restarts = 6,
                            .spares_taken = 9,
                            .spares_ready = 8,
                            .left_out = 7,
                            .done = true,
                            .problem = "a \"b\"\n"};
  const std::string line = to_line(status);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(*parse_status(line), status);
  for (const char* wrong : {"", "{", "[]", "{}", "null"}) EXPECT_FALSE(parse_status(wrong)) << wrong;
}

}  // namespace
}  // namespace dsafuzz
