// Executions per second through the worker against a plain loop in this process, over the same case. Both run in turns
// of a few milliseconds, so that whatever else the machine does meets both. The worker's side includes what a plain
// loop does not have: encoding the case, the round trip, coverage of kernels and operators.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

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

constexpr int kTurn = 50;

double seconds_of(const std::function<bool()>& run, bool& ok) {
  const auto begin = Clock::now();
  for (int i = 0; i < kTurn; ++i) ok = run() && ok;
  return std::chrono::duration<double>(Clock::now() - begin).count();
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
  const auto outside = [&] {
    const auto outcome = executor.run(*c, features);
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
  double in_process = 0, out_of_process = 0;
  for (auto _ : state) {
    out_of_process += seconds_of(outside, ok);
    in_process += seconds_of(inside, ok);
  }
  if (!ok) return state.SkipWithError("a healthy case failed");
  const double runs = static_cast<double>(state.iterations()) * kTurn;
  state.counters["in_process/s"] = runs / in_process;
  state.counters["out_of_process/s"] = runs / out_of_process;
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
