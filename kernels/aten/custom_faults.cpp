// More operators of our own in pairs, a sound one and one with a planted fault: one pair for each kind of fault that
// the tools of the virtual device tell of. On the CPU both halves do what they should.
#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "kernels/aten/backend.h"
#include "kernels/aten/error.h"
#include "kernels/custom/block_sums.h"
#include "kernels/custom/count_values.h"
#include "kernels/custom/pair_sums.h"
#include "kernels/custom/scale_without_bounds_check.h"
#include "kernels/custom/staged_scale.h"
#include "kernels/custom/unordered_sum.h"
#include "kernels/custom/use_after_free.h"

namespace vcuda::aten {
namespace {

using at::Tensor;

void expect_type(const Tensor& input, at::ScalarType type) {
  TORCH_CHECK(input.scalar_type() == type, "expected a ", type, " tensor but got ", input.scalar_type());
}

const float* floats(const Tensor& tensor) { return static_cast<const float*>(tensor.const_data_ptr()); }
float* floats_to_write(const Tensor& tensor) { return static_cast<float*>(tensor.mutable_data_ptr()); }

// What every operator here begins with.
struct Call {
  Call(const Tensor& input, at::ScalarType type) : guard(input.device()), stream(current_stream(input.get_device())) {
    expect_type(input, type);
    check_pending();
    x = input.contiguous();
  }
  c10::DeviceGuard guard;
  Stream stream;
  Tensor x;
};

template <bool kChecked>
Tensor pair_sums(const Tensor& input) {
  const Call call(input, at::kFloat);
  const Tensor y = at::empty({call.x.numel() / 2}, call.x.options());
  const auto launch = kChecked ? &kernels::pair_sums : &kernels::pair_sums_without_alignment_check;
  launch(floats(call.x), floats_to_write(y), y.numel(), call.stream);
  check_after_launch();
  return y;
}

Tensor pair_sums_on_host(const Tensor& input) {
  expect_type(input, at::kFloat);
  const std::int64_t pairs = input.numel() / 2;
  return input.reshape({-1}).slice(0, 0, 2 * pairs).reshape({pairs, 2}).sum(1);
}

using Count = void (*)(const std::int64_t*, std::int64_t, int*, bool, Stream);

template <Count kLaunch, int kBins, bool kChecked>
Tensor count_values(const Tensor& input) {
  const Call call(input, at::kLong);
  const Tensor counts = at::zeros({kBins}, call.x.options().dtype(at::kInt));
  kLaunch(static_cast<const std::int64_t*>(call.x.const_data_ptr()), call.x.numel(),
          static_cast<int*>(counts.mutable_data_ptr()), kChecked, call.stream);
  check_after_launch();
  return counts;
}

template <int kBins>
Tensor count_values_on_host(const Tensor& input) {
  expect_type(input, at::kLong);
  const Tensor values = input.reshape({-1});
  return at::bincount(values.masked_select((values >= 0).logical_and(values < kBins)), {}, kBins).to(at::kInt);
}

template <bool kAtomic>
Tensor sum_by_threads(const Tensor& input) {
  const Call call(input, at::kFloat);
  const Tensor sum = at::zeros({}, call.x.options());
  const auto launch = kAtomic ? &kernels::sum_atomically : &kernels::sum_without_atomics;
  launch(floats(call.x), call.x.numel(), floats_to_write(sum), call.stream);
  check_after_launch();
  return sum;
}

template <bool kAll>
Tensor scale_in_stages(const Tensor& input, double factor) {
  const Call call(input, at::kFloat);
  const Tensor y = at::empty_like(call.x), buffer = at::empty_like(call.x);
  kernels::scale_in_stages(floats(call.x), floats_to_write(buffer), floats_to_write(y), call.x.numel(),
                           static_cast<float>(factor), kAll, call.stream);
  check_after_launch();
  return y;
}

// The first half of the work on one stream, the second on another. Only an event makes the second wait.
template <bool kOrdered>
Tensor scale_in_streams(const Tensor& input, double factor) {
  const Call call(input, at::kFloat);
  const Tensor y = at::empty_like(call.x), buffer = at::empty_like(call.x);
  const int device = input.get_device();
  const Stream first = create_stream(device), second = create_stream(device);
  // Both come after what the caller's stream has done, and it comes after both.
  wait_event(first, record_event(call.stream));
  wait_event(second, record_event(call.stream));
  kernels::scale(floats(call.x), floats_to_write(buffer), call.x.numel(), static_cast<float>(factor), first);
  if (kOrdered) wait_event(second, record_event(first));
  kernels::scale(floats(buffer), floats_to_write(y), call.x.numel(), 1.0f, second);
  wait_event(call.stream, record_event(first));
  wait_event(call.stream, record_event(second));
  destroy_stream(first);
  destroy_stream(second);
  check_after_launch();
  return y;
}

Tensor scale_on_host(const Tensor& input, double factor) {
  expect_type(input, at::kFloat);
  return at::mul(input, factor);
}

template <bool kGuarded>
Tensor block_sums(const Tensor& input) {
  const Call call(input, at::kFloat);
  const std::int64_t n = call.x.numel();
  const Tensor sums = at::empty({(n + kernels::kSumBlock - 1) / kernels::kSumBlock}, call.x.options());
  kernels::block_sums(floats(call.x), n, floats_to_write(sums), kGuarded, call.stream);
  check_after_launch();
  return sums;
}

Tensor block_sums_on_host(const Tensor& input) {
  expect_type(input, at::kFloat);
  const std::int64_t n = input.numel(), blocks = (n + kernels::kSumBlock - 1) / kernels::kSumBlock;
  return at::constant_pad_nd(input.reshape({-1}), {0, blocks * kernels::kSumBlock - n})
      .reshape({blocks, kernels::kSumBlock})
      .sum(1);
}

// A buffer that belongs to nobody but this call, as a kernel library's scratch space does. One that is taken before the
// guard is set lies on the thread's current device, whichever that is, and not on the input's.
template <int kFrees, bool kGuardFirst = true>
Tensor sum_of_buffer(const Tensor& input) {
  const std::size_t bytes = input.nbytes();
  void* buffer = nullptr;
  if (!kGuardFirst) check(allocate(&buffer, bytes, current_stream(current_device())));
  const Call call(input, at::kFloat);
  const Tensor sum = at::empty({}, call.x.options());
  if (kGuardFirst) check(allocate(&buffer, bytes, call.stream));
  check(copy(buffer, call.x.const_data_ptr(), bytes));
  kernels::sum_buffer(static_cast<const float*>(buffer), call.x.numel(), floats_to_write(sum), call.stream);
  check_after_launch();
  for (int i = 0; i < kFrees; ++i) check(deallocate(buffer));
  return sum;
}

// As sum_after_free, but it takes empty_cache() to give the memory back: until then a caching allocator hides the bug.
Tensor sum_after_empty_cache(const Tensor& input) {
  const Call call(input, at::kFloat);
  Tensor buffer = call.x.clone();
  const Tensor sum = at::empty({}, call.x.options());
  const float* const data = floats(buffer);
  const std::int64_t count = buffer.numel();
  buffer.reset();
  empty_cache();
  kernels::sum_buffer(data, count, floats_to_write(sum), call.stream);
  check_after_launch();
  return sum;
}

Tensor sum_on_host(const Tensor& input) {
  expect_type(input, at::kFloat);
  return at::sum(input);
}

constexpr auto& kInShared = kernels::count_values_in_shared;
constexpr auto& kInLocal = kernels::count_values_in_local;

}  // namespace

TORCH_LIBRARY_FRAGMENT(dsafuzz, m) {
  for (const char* name : {"pair_sums", "pair_sums_without_alignment_check", "count_values_in_shared",
                           "count_values_in_shared_without_check", "count_values_in_local",
                           "count_values_in_local_without_check", "sum_atomically", "sum_without_atomics", "block_sums",
                           "block_sums_early_exit", "sum_freed_once", "sum_freed_twice", "sum_allocated_before_guard",
                           "sum_after_empty_cache"}) {
    m.def((std::string(name) + "(Tensor input) -> Tensor").c_str());
  }
  for (const char* name :
       {"scale_in_stages", "scale_in_stages_unfinished", "scale_in_streams", "scale_in_streams_without_event"}) {
    m.def((std::string(name) + "(Tensor input, float factor) -> Tensor").c_str());
  }
}

TORCH_LIBRARY_IMPL(dsafuzz, PrivateUse1, m) {
  m.impl("pair_sums", &pair_sums<true>);
  m.impl("pair_sums_without_alignment_check", &pair_sums<false>);
  m.impl("count_values_in_shared", &count_values<kInShared, kernels::kSharedBins, true>);
  m.impl("count_values_in_shared_without_check", &count_values<kInShared, kernels::kSharedBins, false>);
  m.impl("count_values_in_local", &count_values<kInLocal, kernels::kLocalBins, true>);
  m.impl("count_values_in_local_without_check", &count_values<kInLocal, kernels::kLocalBins, false>);
  m.impl("sum_atomically", &sum_by_threads<true>);
  m.impl("sum_without_atomics", &sum_by_threads<false>);
  m.impl("scale_in_stages", &scale_in_stages<true>);
  m.impl("scale_in_stages_unfinished", &scale_in_stages<false>);
  m.impl("scale_in_streams", &scale_in_streams<true>);
  m.impl("scale_in_streams_without_event", &scale_in_streams<false>);
  m.impl("block_sums", &block_sums<true>);
  m.impl("block_sums_early_exit", &block_sums<false>);
  m.impl("sum_freed_once", &sum_of_buffer<1>);
  m.impl("sum_freed_twice", &sum_of_buffer<2>);
  m.impl("sum_allocated_before_guard", &sum_of_buffer<1, false>);
  m.impl("sum_after_empty_cache", &sum_after_empty_cache);
}

TORCH_LIBRARY_IMPL(dsafuzz, CPU, m) {
  for (const char* name : {"pair_sums", "pair_sums_without_alignment_check"}) m.impl(name, &pair_sums_on_host);
  for (const char* name : {"count_values_in_shared", "count_values_in_shared_without_check"}) {
    m.impl(name, &count_values_on_host<kernels::kSharedBins>);
  }
  for (const char* name : {"count_values_in_local", "count_values_in_local_without_check"}) {
    m.impl(name, &count_values_on_host<kernels::kLocalBins>);
  }
  for (const char* name :
       {"scale_in_stages", "scale_in_stages_unfinished", "scale_in_streams", "scale_in_streams_without_event"}) {
    m.impl(name, &scale_on_host);
  }
  for (const char* name : {"block_sums", "block_sums_early_exit"}) m.impl(name, &block_sums_on_host);
  for (const char* name :
       {"sum_atomically", "sum_without_atomics", "sum_freed_once", "sum_freed_twice", "sum_allocated_before_guard",
        "sum_after_empty_cache"}) {
    m.impl(name, &sum_on_host);
  }
}

}  // namespace vcuda::aten
