// Executions per second through the worker against a plain loop in this process, over the same case. Both run in turns
// of about a millisecond, so that whatever else the machine does meets both, and the medians of the turns are compared,
// since a turn in which another program had the core says nothing. The worker's side includes what a plain loop does
// not have: encoding the case, the round trip, coverage of kernels and operators.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "fuzz/mutate.h"
#include "fuzz/worker_pool.h"
#include "repro/features.h"
#include "scenarios/program.h"
#include "tests/bench/bench_cases.h"

namespace {

using namespace dsafuzz;
using Clock = std::chrono::steady_clock;

constexpr int kTurn = 5;

double seconds_of(const std::function<bool()>& run, bool& ok) {
  const auto begin = Clock::now();
  for (int i = 0; i < kTurn; ++i) ok = run() && ok;
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void compare(benchmark::State& state, const std::string& scenario, Phase phase) {
  const Scenario all = bench_scenario(scenario);
  auto c = healthy_base(all);
  const RunSettings settings{.device = {Device::Kind::vcuda, 0}};
  static auto workers = start_workers(settings);
  if (!c || !workers) return state.SkipWithError(workers ? "no healthy case" : workers.error().text().c_str());
  c->phase = phase;
  Executor& executor = **workers;
  Program program(settings.device);
  std::vector<std::uint8_t> features(kFeatureBytes);
  double in_worker = 0;  // the worker's own time of this turn
  const auto outside = [&] {
    const auto outcome = executor.run(*c, features);
    if (outcome) in_worker += outcome->seconds;
    return outcome && outcome->end == Outcome::End::returned;
  };
  const auto inside = [&] {
    return program
               .run(
                   *c, [](int) {}, false)
               .end == Outcome::End::returned;
  };
  bool ok = true;
  seconds_of(outside, ok);
  seconds_of(inside, ok);
  std::vector<double> turns_outside, turns_inside, turns_worker;
  for (auto _ : state) {
    in_worker = 0;
    turns_outside.push_back(seconds_of(outside, ok));
    turns_worker.push_back(in_worker);
    turns_inside.push_back(seconds_of(inside, ok));
  }
  if (!ok) return state.SkipWithError("a healthy case failed");
  const double out_of_process = median(turns_outside), in_process = median(turns_inside);
  state.counters["in_process/s"] = kTurn / in_process;
  state.counters["out_of_process/s"] = kTurn / out_of_process;
  state.counters["in_worker_us"] = 1e6 * median(turns_worker) / kTurn;
  state.counters["ratio"] = in_process / out_of_process;
}

void add(const char* name, const char* scenario, Phase phase) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) { compare(state, scenario, phase); })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);  // as in the worker
  benchmark::Initialize(&argc, argv);
  add("forward/linear_cross_entropy", "linear_cross_entropy", Phase::forward);
  add("forward/embedding", "embedding", Phase::forward);
  add("forward/index_select", "index_select", Phase::forward);
  add("forward/segmentation_cross_entropy", "segmentation_cross_entropy", Phase::forward);
  add("forward_backward/linear_cross_entropy", "linear_cross_entropy", Phase::backward);
  benchmark::RunSpecifiedBenchmarks();
}
