// Minimising a corpus: the time is linear in its cases. The cases are legal ones of embedding's healthy twin that
// differ by size and seed, run by a real worker; making them is not timed.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "fuzz/merge.h"
#include "fuzz/mutate.h"
#include "fuzz/worker_pool.h"
#include "repro/case_bytes.h"
#include "tests/bench/bench_cases.h"

namespace {

using namespace dsafuzz;
namespace fs = std::filesystem;

void fill(const Store& store, std::int64_t cases) {
  Case c = *healthy_base(bench_scenario("embedding_healthy"));
  const std::string folder = store.folder() + "/corpus/" + c.scenario;
  fs::create_directories(folder);
  for (std::int64_t i = 0; i < cases; ++i) {
    c.seed = static_cast<std::uint64_t>(i);
    const auto bytes = encode(c);
    std::ofstream(folder + "/" + case_id(c), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
}

void minimise(benchmark::State& state) {
  MergeOptions options;
  options.start_workers = start_workers;
  std::uint64_t kept = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::string folder = (fs::temp_directory_path() / "dsafuzz-bench-XXXXXX").string();
    if (!::mkdtemp(folder.data())) return state.SkipWithError("no temporary folder");
    {
      auto store = Store::open(folder, Store::Access::exclusive);
      if (!store) return state.SkipWithError(store.error().text().c_str());
      fill(*store, state.range(0));
      MergeSummary summary;
      state.ResumeTiming();
      const auto done = minimise_corpora(*store, options, summary);
      state.PauseTiming();
      if (!done) state.SkipWithError(done.error().text().c_str());
      for (const MergedCorpus& corpus : summary.corpora) kept += corpus.kept;
    }
    fs::remove_all(folder);
    state.ResumeTiming();
  }
  state.counters["kept"] = static_cast<double>(kept) / static_cast<double>(state.iterations());
  state.counters["cases/s"] =
      benchmark::Counter(static_cast<double>(state.range(0)), benchmark::Counter::kIsIterationInvariantRate);
  state.SetComplexityN(state.range(0));
}
// DSAFUZZ_BENCH_RUNS=100000 is the size of a corpus after months.
const auto kCases = static_cast<std::int64_t>(bench_number("DSAFUZZ_BENCH_RUNS", 10'000));
BENCHMARK(minimise)
    ->Arg(kCases / 100)
    ->Arg(kCases / 10)
    ->Arg(kCases)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime()
    ->Iterations(1)
    ->Complexity(benchmark::oN);

}  // namespace

BENCHMARK_MAIN();
