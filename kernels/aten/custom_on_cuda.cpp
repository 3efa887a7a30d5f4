// dsafuzz::* operators on a real GPU: the same kernels, built by nvcc. Loaded by the worker for cuda devices, after
// LibTorch's CUDA library; the operators themselves are defined by libdsafuzz_vcuda.
#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

extern "C" {
void dsafuzz_cuda_scale(const float* x, float* y, std::int64_t count, float factor);
void dsafuzz_cuda_scale_without_bounds_check(const float* x, float* y, std::int64_t count, float factor);
void dsafuzz_cuda_sum_buffer(const float* x, std::int64_t count, float* sum);
}

namespace dsafuzz {
namespace {

using at::Tensor;

using Scale = void (*)(const float*, float*, std::int64_t, float);

template <Scale kScale, bool kGuarded = true>
Tensor scale(const Tensor& input, double factor) {
  TORCH_CHECK(input.scalar_type() == at::kFloat, "scale: expected a float32 tensor but got ", input.scalar_type());
  const c10::OptionalDeviceGuard guard(kGuarded ? std::optional(input.device()) : std::nullopt);
  const Tensor x = input.contiguous();
  Tensor y = at::empty_like(x);
  kScale(static_cast<const float*>(x.const_data_ptr()), static_cast<float*>(y.mutable_data_ptr()), x.numel(),
         static_cast<float>(factor));
  return y;
}

template <bool kFreeFirst>
Tensor sum(const Tensor& input) {
  TORCH_CHECK(input.scalar_type() == at::kFloat, "sum: expected a float32 tensor but got ", input.scalar_type());
  const c10::DeviceGuard guard(input.device());
  Tensor buffer = input.contiguous().clone();
  Tensor total = at::empty({}, input.options());
  const float* data = static_cast<const float*>(buffer.const_data_ptr());
  const std::int64_t count = buffer.numel();
  if (kFreeFirst) buffer.reset();
  dsafuzz_cuda_sum_buffer(data, count, static_cast<float*>(total.mutable_data_ptr()));
  return total;
}

}  // namespace

TORCH_LIBRARY_IMPL(dsafuzz, CUDA, m) {
  m.impl("scale", &scale<&dsafuzz_cuda_scale>);
  m.impl("scale_without_bounds_check", &scale<&dsafuzz_cuda_scale_without_bounds_check>);
  m.impl("scale_without_device_guard", &scale<&dsafuzz_cuda_scale, false>);
  m.impl("sum_alive", &sum<false>);
  m.impl("sum_after_free", &sum<true>);
}

}  // namespace dsafuzz
