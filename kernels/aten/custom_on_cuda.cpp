// dsafuzz::* operators on a real GPU: the same kernels, built by nvcc, and the same planted faults as in custom.cpp and
// custom_faults.cpp. Loaded by the worker for cuda devices, after LibTorch's CUDA library; the operators themselves are
// defined by libdsafuzz_vcuda.
#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/Event.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <torch/library.h>

#include "kernels/nvcc/launch_custom.h"

namespace dsafuzz {
namespace {

using at::Tensor;
using c10::cuda::CUDAStream;

// As in kernels/custom/, whose headers are for nvcc here.
constexpr std::int64_t kSumBlock = 32, kSharedBins = 64, kLocalBins = 8;

// A launch that failed is noticed at its own operator, as PyTorch's own kernels do.
void check(int error) { C10_CUDA_CHECK(static_cast<cudaError_t>(error)); }

const float* floats(const Tensor& tensor) { return static_cast<const float*>(tensor.const_data_ptr()); }
float* floats_to_write(const Tensor& tensor) { return static_cast<float*>(tensor.mutable_data_ptr()); }

// What every operator here begins with. Without its guard the launch goes to the thread's current device, whichever
// that is, and not to the input's.
struct Call {
  Call(const Tensor& input, at::ScalarType type, bool guarded = true)
      : guard(guarded ? std::optional(input.device()) : std::nullopt),
        stream(c10::cuda::getCurrentCUDAStream(guarded ? input.get_device() : c10::cuda::current_device())) {
    TORCH_CHECK(input.scalar_type() == type, "expected a ", type, " tensor but got ", input.scalar_type());
    x = input.contiguous();
  }
  c10::OptionalDeviceGuard guard;
  CUDAStream stream;
  Tensor x;
};

template <bool kChecked, bool kGuarded = true>
Tensor scale(const Tensor& input, double factor) {
  const Call call(input, at::kFloat, kGuarded);
  const Tensor y = at::empty_like(call.x);
  check(dsafuzz_cuda_scale(floats(call.x), floats_to_write(y), call.x.numel(), static_cast<float>(factor), kChecked,
                           call.stream.stream()));
  return y;
}

// A private copy of the input is what the kernel reads, so that it can be freed early without harm to the caller.
template <bool kFreeFirst, bool kEmptyCache = false>
Tensor sum(const Tensor& input) {
  const Call call(input, at::kFloat);
  Tensor buffer = call.x.clone();
  const Tensor total = at::empty({}, call.x.options());
  const float* const data = floats(buffer);
  const std::int64_t count = buffer.numel();
  if (kFreeFirst) buffer.reset();
  if (kEmptyCache) c10::cuda::CUDACachingAllocator::emptyCache();
  check(dsafuzz_cuda_sum_buffer(data, count, floats_to_write(total), call.stream.stream()));
  return total;
}

template <bool kAtomic>
Tensor sum_by_threads(const Tensor& input) {
  const Call call(input, at::kFloat);
  const Tensor total = at::zeros({}, call.x.options());
  check(dsafuzz_cuda_sum_by_threads(floats(call.x), call.x.numel(), floats_to_write(total), kAtomic,
                                    call.stream.stream()));
  return total;
}

// A buffer that belongs to nobody but this call. One that is taken before the guard is set lies on the thread's current
// device, whichever that is, and not on the input's.
template <int kFrees, bool kGuardFirst = true>
Tensor sum_of_buffer(const Tensor& input) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  const std::size_t bytes = input.nbytes();
  void* buffer = kGuardFirst ? nullptr : allocator::raw_alloc(bytes);
  const Call call(input, at::kFloat);
  const Tensor total = at::empty({}, call.x.options());
  if (kGuardFirst) buffer = allocator::raw_alloc(bytes);
  check(cudaMemcpyAsync(buffer, call.x.const_data_ptr(), bytes, cudaMemcpyDefault, call.stream.stream()));
  check(dsafuzz_cuda_sum_buffer(static_cast<const float*>(buffer), call.x.numel(), floats_to_write(total),
                                call.stream.stream()));
  for (int i = 0; i < kFrees; ++i) allocator::raw_delete(buffer);
  return total;
}

template <bool kChecked>
Tensor pair_sums(const Tensor& input) {
  const Call call(input, at::kFloat);
  const Tensor y = at::empty({call.x.numel() / 2}, call.x.options());
  check(dsafuzz_cuda_pair_sums(floats(call.x), floats_to_write(y), y.numel(), kChecked, call.stream.stream()));
  return y;
}

using Count = int (*)(const std::int64_t*, std::int64_t, int*, bool, void*);

template <Count kLaunch, std::int64_t kBins, bool kChecked>
Tensor count_values(const Tensor& input) {
  const Call call(input, at::kLong);
  const Tensor counts = at::zeros({kBins}, call.x.options().dtype(at::kInt));
  check(kLaunch(static_cast<const std::int64_t*>(call.x.const_data_ptr()), call.x.numel(),
                static_cast<int*>(counts.mutable_data_ptr()), kChecked, call.stream.stream()));
  return counts;
}

template <bool kAll>
Tensor scale_in_stages(const Tensor& input, double factor) {
  const Call call(input, at::kFloat);
  const Tensor y = at::empty_like(call.x), buffer = at::empty_like(call.x);
  check(dsafuzz_cuda_scale_in_stages(floats(call.x), floats_to_write(buffer), floats_to_write(y), call.x.numel(),
                                     static_cast<float>(factor), kAll, call.stream.stream()));
  return y;
}

void wait(const CUDAStream& later, const CUDAStream& earlier) {
  c10::Event event(c10::DeviceType::CUDA);
  event.record(earlier.unwrap());
  event.block(later.unwrap());
}

// The first half of the work on one stream, the second on another. Only an event makes the second wait.
template <bool kOrdered>
Tensor scale_in_streams(const Tensor& input, double factor) {
  const Call call(input, at::kFloat);
  const Tensor y = at::empty_like(call.x), buffer = at::empty_like(call.x);
  const CUDAStream first = c10::cuda::getStreamFromPool(false, call.stream.device_index());
  const CUDAStream second = c10::cuda::getStreamFromPool(false, call.stream.device_index());
  // Both come after what the caller's stream has done, and it comes after both.
  wait(first, call.stream);
  wait(second, call.stream);
  check(dsafuzz_cuda_scale(floats(call.x), floats_to_write(buffer), call.x.numel(), static_cast<float>(factor), true,
                           first.stream()));
  if (kOrdered) wait(second, first);
  check(dsafuzz_cuda_scale(floats(buffer), floats_to_write(y), call.x.numel(), 1.0F, true, second.stream()));
  wait(call.stream, first);
  wait(call.stream, second);
  return y;
}

template <bool kGuarded>
Tensor block_sums(const Tensor& input) {
  const Call call(input, at::kFloat);
  const std::int64_t n = call.x.numel();
  const Tensor sums = at::empty({(n + kSumBlock - 1) / kSumBlock}, call.x.options());
  check(dsafuzz_cuda_block_sums(floats(call.x), n, floats_to_write(sums), kGuarded, call.stream.stream()));
  return sums;
}

}  // namespace

TORCH_LIBRARY_IMPL(dsafuzz, CUDA, m) {
  m.impl("scale", &scale<true>);
  m.impl("scale_without_bounds_check", &scale<false>);
  m.impl("scale_without_device_guard", &scale<true, false>);
  m.impl("sum_alive", &sum<false>);
  m.impl("sum_after_free", &sum<true>);
  m.impl("sum_after_empty_cache", &sum<true, true>);
  m.impl("sum_freed_once", &sum_of_buffer<1>);
  m.impl("sum_freed_twice", &sum_of_buffer<2>);
  m.impl("sum_allocated_before_guard", &sum_of_buffer<1, false>);
  m.impl("sum_atomically", &sum_by_threads<true>);
  m.impl("sum_without_atomics", &sum_by_threads<false>);
  m.impl("pair_sums", &pair_sums<true>);
  m.impl("pair_sums_without_alignment_check", &pair_sums<false>);
  m.impl("count_values_in_shared", &count_values<&dsafuzz_cuda_count_in_shared, kSharedBins, true>);
  m.impl("count_values_in_shared_without_check", &count_values<&dsafuzz_cuda_count_in_shared, kSharedBins, false>);
  m.impl("count_values_in_local", &count_values<&dsafuzz_cuda_count_in_local, kLocalBins, true>);
  m.impl("count_values_in_local_without_check", &count_values<&dsafuzz_cuda_count_in_local, kLocalBins, false>);
  m.impl("scale_in_stages", &scale_in_stages<true>);
  m.impl("scale_in_stages_unfinished", &scale_in_stages<false>);
  m.impl("scale_in_streams", &scale_in_streams<true>);
  m.impl("scale_in_streams_without_event", &scale_in_streams<false>);
  m.impl("block_sums", &block_sums<true>);
  m.impl("block_sums_early_exit", &block_sums<false>);
}

}  // namespace dsafuzz
