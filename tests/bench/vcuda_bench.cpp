// What the virtual device costs by itself: launches, checked accesses, failures, new contexts. No LibTorch.
#include <benchmark/benchmark.h>

#include <vector>

#include "kernels/vcuda/coverage.h"
#include "kernels/vcuda/runtime.h"
#include "tests/bench/silence.h"
#include "tests/kernels/test_kernels.h"

namespace {

template <typename T>
T* device_array(std::size_t count) {
  void* out = nullptr;
  (void)vcuda::allocate(&out, count * sizeof(T));
  return static_cast<T*>(out);
}

void empty_launch(benchmark::State& state) {
  vcuda::reset_contexts();
  const test_kernels::Shape shape{{1}, {static_cast<unsigned>(state.range(0))}};
  for (auto _ : state) test_kernels::empty(shape);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(empty_launch)->Arg(1)->Arg(32)->Arg(1024);

// One thread, one checked 4-byte load an item; the loop's compare is a coverage callback, as in every kernel.
void checked_access(benchmark::State& state) {
  vcuda::reset_contexts();
  const int count = static_cast<int>(state.range(0));
  float* const values = device_array<float>(static_cast<std::size_t>(count));
  float* const out = device_array<float>(1);
  std::vector<std::uint8_t> map(1 << 14);
  vcuda::set_coverage_map(map);
  for (auto _ : state) test_kernels::sum_loop(values, count, out);
  vcuda::set_coverage_map({});
  state.SetItemsProcessed(state.iterations() * count);
}
BENCHMARK(checked_access)->Arg(4096);

// The same loop without checks and without coverage.
void plain_access(benchmark::State& state) {
  std::vector<float> values(static_cast<std::size_t>(state.range(0)), 1.0f);
  for (auto _ : state) {
    benchmark::DoNotOptimize(values.data());
    benchmark::ClobberMemory();
    float sum = 0;
    for (const float v : values) sum += v;
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(plain_access)->Arg(4096);

// A block of 256 threads on fibers, with 9 barriers.
void launch_with_barriers(benchmark::State& state) {
  vcuda::reset_contexts();
  const int* const values = device_array<int>(256);
  int* const out = device_array<int>(1);
  for (auto _ : state) test_kernels::sum_with_barriers(values, 256, out, 256);
  state.SetItemsProcessed(state.iterations() * 256);
}
BENCHMARK(launch_with_barriers);

void allocate_and_free(benchmark::State& state) {
  vcuda::reset_contexts();
  for (auto _ : state) (void)vcuda::deallocate(device_array<char>(static_cast<std::size_t>(state.range(0))));
}
BENCHMARK(allocate_and_free)->Arg(64)->Arg(1 << 16);

// With one allocation of `range` bytes, freed before, as after a case.
void reset_contexts(benchmark::State& state) {
  vcuda::reset_contexts();
  for (auto _ : state) {
    if (state.range(0) != 0) (void)vcuda::deallocate(device_array<char>(static_cast<std::size_t>(state.range(0))));
    vcuda::reset_contexts();
  }
}
BENCHMARK(reset_contexts)->Arg(0)->Arg(1 << 10)->Arg(1 << 16)->Arg(1 << 20);

// A failed assert from launch to a working context: the line printed, the error read, the context made anew.
void failed_assert(benchmark::State& state) {
  vcuda::reset_contexts();
  const Silence silence;
  for (auto _ : state) {
    int* const values = device_array<int>(1);  // reads as zero
    test_kernels::assert_below(values, 0, {});
    if (vcuda::synchronize() != vcuda::Error::assert_triggered) state.SkipWithError("no failure");
    (void)vcuda::deallocate(values);
    vcuda::reset_contexts();
  }
}
BENCHMARK(failed_assert);

// The same for an illegal access, which is described at length.
void memory_fault(benchmark::State& state) {
  vcuda::reset_contexts();
  const Silence silence;
  for (auto _ : state) {
    int* const value = device_array<int>(1);
    test_kernels::store(value + 1);
    if (vcuda::synchronize() != vcuda::Error::illegal_address) state.SkipWithError("no failure");
    (void)vcuda::deallocate(value);
    vcuda::reset_contexts();
  }
}
BENCHMARK(memory_fault);

}  // namespace

BENCHMARK_MAIN();
