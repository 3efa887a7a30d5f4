// What the guard costs on the CPU: cross_entropy checked against cross_entropy alone, and the guard switched off, in
// turns within one run. `ratio` and `off_ratio` are medians of the turns through the plain call's.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <dsafuzz/guard.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace {

namespace guard = dsafuzz::guard;

double median(std::vector<double>& values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

template <class F>
void time_into(std::vector<double>& seconds, F call) {
  const auto begin = std::chrono::steady_clock::now();
  benchmark::DoNotOptimize(call());
  seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

// `image`: a label for each of 64 x 64 pixels. `finite`: the logits are checked for NaN and infinities too.
void cross_entropy(benchmark::State& state, std::int64_t batch, std::int64_t classes, bool image, bool finite) {
  at::set_num_threads(1);
  at::manual_seed(1);
  const at::Tensor logits = image ? at::randn({batch, classes, 64, 64}) : at::randn({batch, classes});
  const at::Tensor labels = image ? at::randint(classes, {batch, 64, 64}, at::kLong)  //
                                  : at::randint(classes, {batch}, at::kLong);
  guard::LossOptions options;
  options.finite_input = finite;
  std::vector<double> plain, on, off;
  for (auto _ : state) {
    time_into(plain, [&] { return at::cross_entropy_loss(logits, labels); });
    guard::set_enabled(true);
    time_into(on, [&] { return guard::cross_entropy(logits, labels, options); });
    guard::set_enabled(false);
    time_into(off, [&] { return guard::cross_entropy(logits, labels, options); });
  }
  guard::set_enabled(true);
  const double base = median(plain);
  state.counters["plain_us"] = base * 1e6;
  state.counters["guarded_us"] = median(on) * 1e6;
  state.counters["ratio"] = median(on) / base;
  state.counters["off_ratio"] = median(off) / base;
}

}  // namespace

BENCHMARK_CAPTURE(cross_entropy, batch_32_classes_10, 32, 10, false, false);
BENCHMARK_CAPTURE(cross_entropy, batch_1024_classes_10, 1024, 10, false, false);
BENCHMARK_CAPTURE(cross_entropy, batch_128_classes_1000, 128, 1000, false, false);
BENCHMARK_CAPTURE(cross_entropy, batch_1024_classes_50257, 1024, 50257, false, false)->Iterations(10);
BENCHMARK_CAPTURE(cross_entropy, image_4_classes_21, 4, 21, true, false);
BENCHMARK_CAPTURE(cross_entropy, batch_128_classes_1000_finite, 128, 1000, false, true);
BENCHMARK_CAPTURE(cross_entropy, batch_1024_classes_50257_finite, 1024, 50257, false, true)->Iterations(10);
BENCHMARK_CAPTURE(cross_entropy, image_4_classes_21_finite, 4, 21, true, true);

BENCHMARK_MAIN();
