// Half of all cases fail a device assert: dsafuzz's worker, which makes its context anew, against libFuzzer's fork
// mode, which loses a process with each. The comparison runs for DSAFUZZ_BENCH_SECONDS (20 s).
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "fuzz/worker_pool.h"
#include "repro/features.h"
#include "tests/bench/bench_cases.h"

namespace {

using namespace dsafuzz;
using Clock = std::chrono::steady_clock;

struct Rates {
  double executions = 0, crashes = 0;  // per second
};

Rates worker_rates(Executor& executor, double seconds) {
  const Scenario scenario = bench_scenario("linear_cross_entropy_healthy");
  std::vector<std::uint8_t> features(kFeatureBytes);
  double executions = 0, crashes = 0;
  const auto begin = Clock::now();
  double passed = 0;
  for (std::uint64_t i = 0; passed < seconds; ++i) {
    Case c = scenario.base;
    c.seed = i;
    c.find_tensor("labels")->set = {{3, static_cast<std::int64_t>(i % 2 == 0 ? 5 : 4)}};
    const auto outcome = executor.run(c, features);
    if (!outcome) break;
    ++executions;
    if (outcome->end == Outcome::End::threw) ++crashes;
    passed = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  return {executions / passed, crashes / passed};
}

// libFuzzer's own count: "#N: cov: ... exec/s: ..." lines of the jobs, and "oom/timeout/crash: 0/0/N time: Ts".
Rates fork_mode_rates(std::uint64_t seconds) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  std::array<char, 64> folder{"/tmp/dsafuzz-bench-XXXXXX"};
  if (!mkdtemp(folder.data())) return {};
  const std::string place = folder.data();
  std::filesystem::create_directory(place + "/corpus");
  const std::string command =
      "cd " + place + " && OMP_NUM_THREADS=1 '" + self +
      "/aborting_harness' -fork=1 -ignore_crashes=1 -max_total_time=" + std::to_string(seconds) + " corpus 2>&1";
  FILE* output = popen(command.c_str(), "r");
  unsigned long long executions = 0, crashes = 0;
  std::array<char, 4096> line;
  const auto begin = Clock::now();
  while (output && std::fgets(line.data(), line.size(), output)) {
    const std::string text = line.data();
    unsigned long long count = 0;
    if (std::sscanf(text.c_str(), "#%llu: cov:", &count) == 1) executions = count;
    const std::size_t at = text.find("oom/timeout/crash: ");
    if (at != std::string::npos && std::sscanf(text.c_str() + at, "oom/timeout/crash: %*u/%*u/%llu", &count) == 1)
      crashes = count;
  }
  const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
  if (output) pclose(output);
  std::error_code ignored;
  std::filesystem::remove_all(place, ignored);
  return {static_cast<double>(executions) / passed, static_cast<double>(crashes) / passed};
}

void half_asserting(benchmark::State& state) {
  static auto workers = start_workers({.device = {Device::Kind::vcuda, 0}});
  if (!workers) return state.SkipWithError(workers.error().text().c_str());
  const std::uint64_t seconds = bench_number("DSAFUZZ_BENCH_SECONDS", 20);
  Rates ours, theirs;
  for (auto _ : state) {
    // Ours before and after, since the machine is not the same from minute to minute.
    const Rates before = worker_rates(**workers, static_cast<double>(seconds) / 4);
    theirs = fork_mode_rates(seconds);
    const Rates after = worker_rates(**workers, static_cast<double>(seconds) / 4);
    ours = {(before.executions + after.executions) / 2, (before.crashes + after.crashes) / 2};
  }
  state.counters["dsafuzz_executions/s"] = ours.executions;
  state.counters["dsafuzz_asserts/s"] = ours.crashes;
  state.counters["fork_executions/s"] = theirs.executions;
  state.counters["fork_crashes/s"] = theirs.crashes;
  if (theirs.crashes > 0) state.counters["asserts_ratio"] = ours.crashes / theirs.crashes;
  if (theirs.executions > 0) state.counters["executions_ratio"] = ours.executions / theirs.executions;
}
BENCHMARK(half_asserting)->Iterations(1)->UseRealTime()->Unit(benchmark::kSecond);

}  // namespace

BENCHMARK_MAIN();
