// What a kernel of ours costs against the same operator on the CPU, one thread each, over the number of elements. The
// counter `ratio` is vcuda's median time through the CPU's; both run in turns, so that whatever else the machine does
// meets both. `work` is the same for the processor time of all threads: it does not know of spreading, and a busy
// machine, which interrupts long calls more often than short ones, hardly moves it. `DSAFUZZ_BENCH_COVERAGE=1` gives
// the kernels a coverage map, as a worker does.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include "kernels/vcuda/coverage.h"
#include "kernels/vcuda/runtime.h"

namespace {

using at::Tensor;
using Clock = std::chrono::steady_clock;
using Tensors = std::vector<Tensor>;

constexpr std::int64_t kWidth = 16;  // of a row, or classes

struct Subject {
  const char* name;
  Tensors (*make)(std::int64_t elements);
  Tensor (*call)(const Tensors&);
};

Tensor indices(std::int64_t count, std::int64_t below) {
  return at::randint(below, {std::max<std::int64_t>(count, 1)});
}
std::int64_t rows_of(std::int64_t elements) { return std::max<std::int64_t>(elements / kWidth, 1); }

const Subject kSubjects[] = {
    {"nll_loss", [](std::int64_t n) { return Tensors{at::rand({rows_of(n), kWidth}), indices(rows_of(n), kWidth)}; },
     [](const Tensors& t) { return at::nll_loss(t[0], t[1]); }},
    {"nll_loss_none",
     [](std::int64_t n) { return Tensors{at::rand({rows_of(n), kWidth}), indices(rows_of(n), kWidth)}; },
     [](const Tensors& t) { return at::nll_loss(t[0], t[1], {}, at::Reduction::None); }},
    {"index_select", [](std::int64_t n) { return Tensors{at::rand({1000, kWidth}), indices(rows_of(n), 1000)}; },
     [](const Tensors& t) { return at::index_select(t[0], 0, t[1]); }},
    {"gather",
     [](std::int64_t n) { return Tensors{at::rand({rows_of(n), kWidth}), at::randint(kWidth, {rows_of(n), kWidth})}; },
     [](const Tensors& t) { return at::gather(t[0], 1, t[1]); }},
    {"embedding_bag",
     [](std::int64_t n) {
       const std::int64_t bags = std::max<std::int64_t>(rows_of(n) / 4, 1);
       return Tensors{at::rand({1000, kWidth}), indices(bags * 4, 1000), at::arange(0, bags * 4, 4)};
     },
     [](const Tensors& t) { return std::get<0>(at::embedding_bag(t[0], t[1], t[2])); }},
    {"max_pool2d_backward",
     [](std::int64_t n) {
       const auto side =
           std::max<std::int64_t>(2, static_cast<std::int64_t>(std::sqrt(static_cast<double>(n))) / 2 * 2);
       const Tensor image = at::rand({1, 1, side, side});
       const auto [out, where] = at::max_pool2d_with_indices(image, {2, 2});
       return Tensors{at::rand_like(out), image, where};
     },
     [](const Tensors& t) {
       return at::max_pool2d_with_indices_backward(t[0], t[1], {2, 2}, {}, {0, 0}, {1, 1}, false, t[2]);
     }},
    {"nll_loss_backward",
     [](std::int64_t n) {
       return Tensors{at::rand({rows_of(n), kWidth}), indices(rows_of(n), kWidth), at::ones({}),
                      at::full({}, static_cast<double>(rows_of(n)))};
     },
     [](const Tensors& t) { return at::nll_loss_backward(t[2], t[0], t[1], {}, at::Reduction::Mean, -100, t[3]); }},
    {"nll_loss2d",
     [](std::int64_t n) { return Tensors{at::rand({4, 4, rows_of(n), 1}), at::randint(4, {4, rows_of(n), 1})}; },
     [](const Tensors& t) { return at::nll_loss2d(t[0], t[1]); }},
    {"nll_loss2d_none",
     [](std::int64_t n) { return Tensors{at::rand({4, 4, rows_of(n), 1}), at::randint(4, {4, rows_of(n), 1})}; },
     [](const Tensors& t) { return at::nll_loss2d(t[0], t[1], {}, at::Reduction::None); }},
    {"binary_cross_entropy", [](std::int64_t n) { return Tensors{at::rand({n}), at::rand({n})}; },
     [](const Tensors& t) { return at::binary_cross_entropy(t[0], t[1]); }},
    {"multi_margin_loss",
     [](std::int64_t n) { return Tensors{at::rand({rows_of(n), kWidth}), indices(rows_of(n), kWidth)}; },
     [](const Tensors& t) { return at::multi_margin_loss(t[0], t[1]); }},
    {"multilabel_margin_loss",
     [](std::int64_t n) {
       return Tensors{at::rand({rows_of(n), kWidth}), at::randint(-1, kWidth, {rows_of(n), kWidth})};
     },
     [](const Tensors& t) { return at::multilabel_margin_loss(t[0], t[1]); }},
    {"ctc_loss",
     [](std::int64_t n) {
       const std::int64_t batch = std::max<std::int64_t>(n / (20 * kWidth), 1);
       return Tensors{at::log_softmax(at::rand({20, batch, kWidth}), 2), at::randint(1, kWidth, {batch, 8}),
                      at::full({batch}, 20, at::kLong), at::full({batch}, 8, at::kLong)};
     },
     [](const Tensors& t) { return at::ctc_loss(t[0], t[1], t[2], t[3]); }},
    {"embedding_backward",
     [](std::int64_t n) { return Tensors{at::rand({rows_of(n), kWidth}), indices(rows_of(n), 1000)}; },
     [](const Tensors& t) { return at::embedding_dense_backward(t[0], t[1], 1000, -1, false); }},
    {"scatter",
     [](std::int64_t n) {
       return Tensors{at::zeros({rows_of(n), kWidth}), at::randint(kWidth, {rows_of(n), kWidth}),
                      at::rand({rows_of(n), kWidth})};
     },
     [](const Tensors& t) { return at::scatter(t[0], 1, t[1], t[2]); }},
    {"scatter_add",
     [](std::int64_t n) {
       return Tensors{at::zeros({rows_of(n), kWidth}), at::randint(kWidth, {rows_of(n), kWidth}),
                      at::rand({rows_of(n), kWidth})};
     },
     [](const Tensors& t) { return at::scatter_add(t[0], 1, t[1], t[2]); }},
    {"index_add",
     [](std::int64_t n) {
       return Tensors{at::zeros({1000, kWidth}), indices(rows_of(n), 1000), at::rand({rows_of(n), kWidth})};
     },
     [](const Tensors& t) { return at::index_add(t[0], 0, t[1], t[2]); }},
    {"take", [](std::int64_t n) { return Tensors{at::rand({1000}), indices(n, 1000)}; },
     [](const Tensors& t) { return at::take(t[0], t[1]); }},
    {"multinomial", [](std::int64_t n) { return Tensors{at::rand({rows_of(n), kWidth})}; },
     [](const Tensors& t) { return at::multinomial(t[0], 1, true); }},
    {"index_put", [](std::int64_t n) { return Tensors{at::zeros({n}), at::randperm(n), at::rand({n})}; },
     [](const Tensors& t) {
       Tensor to = t[0];
       return at::index_put_(to, {t[1]}, t[2]);
     }},
};

// Of the whole process.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Times {
  std::vector<double> wall, work;
};

void time_call(const Subject& subject, const Tensors& tensors, Times& times) {
  const double work_begin = processor_seconds();
  const auto begin = Clock::now();
  benchmark::DoNotOptimize(subject.call(tensors));
  times.wall.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  times.work.push_back(processor_seconds() - work_begin);
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void compare(benchmark::State& state, const Subject& subject) {
  at::set_num_threads(1);
  const c10::InferenceMode inference;
  vcuda::reset_contexts();
  at::manual_seed(1);
  const Tensors host = subject.make(state.range(0));
  Tensors device;
  for (const Tensor& t : host) device.push_back(t.to(at::Device(at::kPrivateUse1, 0)));
  std::vector<std::uint8_t> map(1 << 14);
  const char* coverage = std::getenv("DSAFUZZ_BENCH_COVERAGE");
  if (coverage != nullptr && *coverage == '1') vcuda::set_coverage_map(map);
  Times on_host, on_device;
  for (auto _ : state) {
    time_call(subject, host, on_host);
    time_call(subject, device, on_device);
  }
  vcuda::set_coverage_map({});
  const double device_time = median(on_device.wall), host_time = median(on_host.wall);
  state.counters["ratio"] = device_time / host_time;
  state.counters["work"] = median(on_device.work) / median(on_host.work);
  state.counters["cpu_us"] = host_time * 1e6;
  state.counters["vcuda_us"] = device_time * 1e6;
}

const bool kRegistered = [] {
  for (const Subject& subject : kSubjects) {
    auto* const bench =
        benchmark::RegisterBenchmark(subject.name, [&subject](benchmark::State& state) { compare(state, subject); });
    for (std::int64_t n = 100; n <= 10'000'000; n *= 10) bench->Arg(n);
    bench->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace

BENCHMARK_MAIN();
