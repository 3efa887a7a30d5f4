// Where the time of one execution goes: each part alone, over the same walk of mutated cases, and the whole program as
// a user starts it (DSAFUZZ_BENCH_RUNS executions, 3,000).
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "fuzz/mutate.h"
#include "fuzz/worker_pool.h"
#include "kernels/vcuda/coverage.h"
#include "repro/case_bytes.h"
#include "repro/diagnose.h"
#include "repro/features.h"
#include "scenarios/case_tensors.h"
#include "scenarios/operator_features.h"
#include "scenarios/program.h"
#include "tests/bench/bench_cases.h"
#include "tests/bench/silence.h"

namespace {

using namespace dsafuzz;

constexpr std::array kScenarios{"use_after_free_healthy", "embedding_healthy", "linear_cross_entropy_healthy"};
constexpr Device kDevice{Device::Kind::vcuda, 0};

// A random walk over the scenario's cases, restarted now and then: what the search runs.
struct Walk {
  explicit Walk(const benchmark::State& state) : scenario(bench_scenario(kScenarios.at(state.range(0)))) {
    Random random(1);
    cases.push_back(scenario.base);
    while (cases.size() < 1000)
      cases.push_back(mutate(scenario, cases.size() % 10 == 0 ? scenario.base : cases.back(), random));
    for (const Case& c : cases) bytes.push_back(encode(c));
  }
  const Case& next() { return cases[at++ % cases.size()]; }
  const std::vector<std::uint8_t>& next_bytes() { return bytes[at++ % bytes.size()]; }

  Scenario scenario;
  std::vector<Case> cases;
  std::vector<std::vector<std::uint8_t>> bytes;
  std::size_t at = 0;
};

void part(benchmark::State& state, const std::function<void(Walk&)>& work) {
  Walk walk(state);
  state.SetLabel(kScenarios.at(state.range(0)));
  for (auto _ : state) work(walk);
}

void mutating(benchmark::State& state) {
  Random random(2);
  part(state, [&](Walk& w) { benchmark::DoNotOptimize(mutate(w.scenario, w.next(), random)); });
}
void checking(benchmark::State& state) {
  part(state, [](Walk& w) { benchmark::DoNotOptimize(belongs(w.scenario, w.next())); });
}
void encoding(benchmark::State& state) {
  part(state, [](Walk& w) { benchmark::DoNotOptimize(encode(w.next())); });
}
void decoding(benchmark::State& state) {
  part(state, [](Walk& w) { benchmark::DoNotOptimize(decode_case(w.next_bytes())); });
}
void diagnosing(benchmark::State& state) {
  const Outcome healthy{.op = "synchronize", .device = "vcuda"};
  part(state, [&](Walk& w) { benchmark::DoNotOptimize(diagnose(w.next(), healthy)); });
}
// A case without tensors and steps: the executor and the protocol alone.
void round_trip(benchmark::State& state) {
  auto workers = start_workers({.device = kDevice});
  if (!workers) return state.SkipWithError(workers.error().text().c_str());
  std::vector<std::uint8_t> features(kFeatureBytes);
  Case nothing;
  nothing.scenario = "nothing";
  nothing.steps.push_back({.results = {"x"}, .op = "aten::empty.memory_format", .arguments = {{"", {List{}}}}});
  for (auto _ : state) benchmark::DoNotOptimize((*workers)->run(nothing, features));
}
void making_tensors(benchmark::State& state) {
  part(state, [](Walk& w) {
    const Case& c = w.next();
    for (const TensorSpec& spec : c.tensors)
      benchmark::DoNotOptimize(make_tensor(c, spec, c10::Device(c10::kPrivateUse1, 0)));
  });
}
void running(benchmark::State& state, bool with_features) {
  static const bool observing = (observe_operators(), true);
  benchmark::DoNotOptimize(observing);
  std::vector<std::uint8_t> features(kFeatureBytes);
  Program program(kDevice);
  part(state, [&](Walk& w) {
    if (with_features) set_feature_map(features);
    benchmark::DoNotOptimize(program.run(
        w.next(), [](int) {}, false));
    if (with_features) vcuda::collect_counters();
    set_feature_map({});
  });
}
void running_with_coverage(benchmark::State& state) { running(state, true); }
void running_without(benchmark::State& state) { running(state, false); }
void through_the_worker(benchmark::State& state) {
  auto workers = start_workers({.device = kDevice});
  if (!workers) return state.SkipWithError(workers.error().text().c_str());
  std::vector<std::uint8_t> features(kFeatureBytes);
  part(state, [&](Walk& w) { benchmark::DoNotOptimize((*workers)->run(w.next(), features)); });
}

// `dsafuzz fuzz`, its own figure of executions per second.
void whole_program(benchmark::State& state) {
  const std::string scenario = kScenarios.at(state.range(0));
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  const std::uint64_t runs = bench_number("DSAFUZZ_BENCH_RUNS", 3000);
  double rate = 0;
  for (auto _ : state) {
    std::array<char, 64> folder{"/tmp/dsafuzz-bench-XXXXXX"};
    if (!mkdtemp(folder.data())) return state.SkipWithError("no folder");
    const std::string command = "'" + self + "/dsafuzz' fuzz '" + bench_scenario_file(scenario) +
                                "' --seed 1 --no-run --runs " + std::to_string(runs) + " --out " + folder.data() +
                                " 2>/dev/null";
    FILE* output = popen(command.c_str(), "r");
    std::array<char, 1024> line;
    while (output && std::fgets(line.data(), line.size(), output)) {
      const std::string text = line.data();
      const std::size_t at = text.find(" executions, ");
      if (at != std::string::npos) rate = std::strtod(text.c_str() + at + 13, nullptr);
    }
    if (output) pclose(output);
    std::error_code ignored;
    std::filesystem::remove_all(folder.data(), ignored);
  }
  state.SetLabel(scenario);
  if (rate <= 0) return state.SkipWithError("dsafuzz gave no rate");
  state.counters["executions/s"] = rate;
}

#define FOR_EACH_SCENARIO(NAME) \
  BENCHMARK(NAME)->DenseRange(0, kScenarios.size() - 1)->UseRealTime()->Unit(benchmark::kMicrosecond)
FOR_EACH_SCENARIO(mutating);
FOR_EACH_SCENARIO(checking);
FOR_EACH_SCENARIO(encoding);
FOR_EACH_SCENARIO(decoding);
FOR_EACH_SCENARIO(diagnosing);
BENCHMARK(round_trip)->UseRealTime()->Unit(benchmark::kMicrosecond);
FOR_EACH_SCENARIO(making_tensors);
FOR_EACH_SCENARIO(running_without);
FOR_EACH_SCENARIO(running_with_coverage);
FOR_EACH_SCENARIO(through_the_worker);
BENCHMARK(whole_program)
    ->DenseRange(0, kScenarios.size() - 1)
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);  // as in the worker
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
