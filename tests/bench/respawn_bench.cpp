// What failures cost on the way through the executor: a worker that dies and is replaced, and the failures of the
// virtual device, which cost it a context but not its process.
#include <benchmark/benchmark.h>

#include "fuzz/worker_pool.h"
#include "repro/features.h"
#include "tests/bench/bench_cases.h"

namespace {

using namespace dsafuzz;

void repeat(benchmark::State& state, Device device, const Case& c, Outcome::End expected) {
  auto workers = start_workers({.device = device});
  if (!workers) return state.SkipWithError(workers.error().text().c_str());
  std::vector<std::uint8_t> features(kFeatureBytes);
  for (auto _ : state) {
    const auto outcome = (*workers)->run(c, features);
    if (!outcome) return state.SkipWithError(outcome.error().text().c_str());
    if (outcome->end != expected) return state.SkipWithError(("unexpected end: " + outcome->error).c_str());
  }
  state.SetItemsProcessed(state.iterations());
}

void dead_worker_vcuda(benchmark::State& state) {
  repeat(state, {Device::Kind::vcuda, 0}, killing_case(), Outcome::End::signalled);
}
void dead_worker_cpu(benchmark::State& state) {
  repeat(state, {Device::Kind::cpu, 0}, killing_case(), Outcome::End::signalled);
}
void fresh_worker(benchmark::State& state) {
  auto workers = start_workers({.device = {Device::Kind::vcuda, 0}});
  if (!workers) return state.SkipWithError(workers.error().text().c_str());
  const Case c = bench_scenario("linear_cross_entropy_healthy").base;
  for (auto _ : state) {
    if (const auto outcome = (*workers)->run_fresh(c); !outcome || outcome->end != Outcome::End::returned)
      return state.SkipWithError("a healthy case failed");
  }
  state.SetItemsProcessed(state.iterations());
}
void memory_fault(benchmark::State& state) {
  repeat(state, {Device::Kind::vcuda, 0}, bench_scenario("use_after_free").base, Outcome::End::threw);
}
void no_memory_fault(benchmark::State& state) {
  repeat(state, {Device::Kind::vcuda, 0}, bench_scenario("use_after_free_healthy").base, Outcome::End::returned);
}
void failed_assert(benchmark::State& state) {
  repeat(state, {Device::Kind::vcuda, 0}, bench_scenario("linear_cross_entropy").base, Outcome::End::threw);
}

BENCHMARK(dead_worker_vcuda)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(dead_worker_cpu)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(fresh_worker)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(memory_fault)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(no_memory_fault)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(failed_assert)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
