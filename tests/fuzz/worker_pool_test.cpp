// The worker pool where a device is lost: one fault, one process. Only a CUDA worker loses its device for good, so a
// fake worker plays it; the pool is the real one.
#include "fuzz/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <set>
#include <string>
#include <thread>

#include "fake_worker.h"

namespace dsafuzz {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

Case case_of(const char* scenario) {
  Case c;
  c.scenario = scenario;
  c.steps.push_back({.results = {"y"}, .op = "aten::relu"});
  return c;
}

struct Ran {
  Outcome outcome;
  pid_t process = 0;
  int cases = 0;  // that the process had run, with this one
};

class WorkerPoolTest : public testing::Test {
 protected:
  void SetUp() override {
    RunSettings settings;
    settings.device = {.kind = Device::Kind::cuda};
    settings.time_limit = milliseconds(5'000);
    settings.start_limit = milliseconds(10'000);
    auto started = start_workers(settings);
    ASSERT_TRUE(started) << started.error().text();
    workers_ = *std::move(started);
  }

  static Ran run_of(const Result<Outcome>& outcome) {
    Ran run;
    if (!outcome) {
      ADD_FAILURE() << outcome.error().text();
      return run;
    }
    run.outcome = *outcome;
    std::sscanf(run.outcome.error.c_str(), "%d %d", &run.process, &run.cases);
    return run;
  }
  Ran run(const char* scenario) { return run_of(workers_->run(case_of(scenario))); }
  Ran run_fresh(const char* scenario) { return run_of(workers_->run_fresh(case_of(scenario))); }

  // Three times what a spare takes to be ready.
  static void let_spare_start() { std::this_thread::sleep_for(3 * kFakeStart); }

  static bool is_gone_soon(pid_t process) {
    for (int i = 0; i < 200; ++i) {
      if (kill(process, 0) != 0 && errno == ESRCH) return true;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return false;
  }

  std::unique_ptr<Executor> workers_;
};

TEST_F(WorkerPoolTest, AWorkerThatKeepsItsDeviceRunsOn) {
  const Ran first = run(kReturns), second = run(kThrows), third = run(kReturns);
  EXPECT_EQ(first.process, third.process);
  EXPECT_EQ(first.process, second.process);
  EXPECT_EQ(third.cases, 3);
  EXPECT_EQ(workers_->spares().taken, 0u);
}

TEST_F(WorkerPoolTest, ALostDeviceEndsItsProcessAndNothingElse) {
  const Ran before = run(kReturns), fault = run(kLost), after = run(kReturns), later = run(kReturns);
  EXPECT_EQ(fault.process, before.process);
  EXPECT_EQ(fault.outcome.end, Outcome::End::threw);  // what the worker said, not how it ended
  EXPECT_THAT(fault.outcome.log, HasSubstr("case 2 of process " + std::to_string(fault.process)));
  EXPECT_NE(after.process, fault.process);
  EXPECT_EQ(after.cases, 1);
  EXPECT_EQ(after.outcome.end, Outcome::End::returned);
  EXPECT_THAT(after.outcome.log, testing::Not(HasSubstr(std::to_string(fault.process))));
  EXPECT_EQ(later.process, after.process);
  EXPECT_TRUE(is_gone_soon(fault.process));
}

TEST_F(WorkerPoolTest, EachFaultHasAProcessOfItsOwn) {
  std::set<pid_t> processes;
  constexpr int kFaults = 6;
  for (int i = 0; i < kFaults; ++i) {
    const Ran fault = run(kLost);
    EXPECT_EQ(fault.cases, 1);
    processes.insert(fault.process);
  }
  EXPECT_EQ(processes.size(), static_cast<std::size_t>(kFaults));
  EXPECT_EQ(workers_->spares().taken, static_cast<std::uint64_t>(kFaults - 1));
}

TEST_F(WorkerPoolTest, AWarmSpareTakesOver) {
  run(kReturns);
  let_spare_start();
  run(kLost);
  EXPECT_EQ(run(kReturns).cases, 1);
  EXPECT_EQ(workers_->spares().taken, 1u);
  EXPECT_EQ(workers_->spares().ready, 1u);
}

TEST_F(WorkerPoolTest, TheNextSpareStartsInTheBackground) {
  run(kReturns);
  let_spare_start();
  run(kLost);
  // Takes the spare and asks for the next one, which this case or the next may have to wait for.
  run(kLost);
  EXPECT_EQ(run(kReturns).outcome.end, Outcome::End::returned);
  EXPECT_EQ(workers_->spares().taken, 2u);
  let_spare_start();
  const std::uint64_t ready = workers_->spares().ready;
  run(kLost);
  run(kReturns);
  EXPECT_EQ(workers_->spares().taken, 3u);
  EXPECT_EQ(workers_->spares().ready, ready + 1);
}

TEST_F(WorkerPoolTest, AWorkerThatHangsInsteadOfEndingIsKilled) {
  const Ran fault = run(kLingers), after = run(kReturns);
  EXPECT_EQ(fault.outcome.end, Outcome::End::threw);
  EXPECT_NE(after.process, fault.process);
  EXPECT_TRUE(is_gone_soon(fault.process));
}

TEST_F(WorkerPoolTest, AFreshRunAfterALostDeviceIsTheFirstOfItsProcess) {
  const Ran fault = run(kLost), fresh = run_fresh(kLost), again = run_fresh(kReturns);
  EXPECT_EQ(fresh.cases, 1);
  EXPECT_EQ(again.cases, 1);
  EXPECT_NE(fresh.process, fault.process);
  EXPECT_NE(again.process, fresh.process);
}

TEST_F(WorkerPoolTest, AWorkerThatDiesWithoutAnAnswerIsTheCasesOutcome) {
  run(kReturns);
  let_spare_start();
  const Ran fault = run(kDies);
  EXPECT_EQ(fault.outcome.end, Outcome::End::signalled);
  EXPECT_EQ(fault.outcome.code, SIGSEGV);
  EXPECT_EQ(fault.outcome.versions.at("torch"), "fake");
  EXPECT_EQ(run(kReturns).cases, 1);
}

}  // namespace
}  // namespace dsafuzz
