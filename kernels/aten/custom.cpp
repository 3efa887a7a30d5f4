// Operators of our own, dsafuzz::*, in pairs of a sound one and one with a planted fault. On the CPU both halves of a
// pair do what they should: that is their contract.
#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "kernels/aten/backend.h"
#include "kernels/aten/error.h"
#include "kernels/custom/scale_without_bounds_check.h"
#include "kernels/custom/use_after_free.h"

namespace vcuda::aten {
namespace {

using at::Tensor;

void expect_float(const Tensor& input, const char* name) {
  TORCH_CHECK(input.scalar_type() == at::kFloat, name, ": expected a float32 tensor but got ", input.scalar_type());
}

const float* floats(const Tensor& tensor) { return static_cast<const float*>(tensor.const_data_ptr()); }

using ScaleLauncher = void (*)(const float*, float*, std::int64_t, float, Stream);

template <ScaleLauncher kLaunch>
Tensor scale_on_device(const Tensor& input, double factor) {
  expect_float(input, "scale");
  const c10::DeviceGuard guard(input.device());
  check_pending();
  const Tensor x = input.contiguous();
  Tensor y = at::empty_like(x);
  kLaunch(floats(x), static_cast<float*>(y.mutable_data_ptr()), x.numel(), static_cast<float>(factor),
          current_stream(input.get_device()));
  check_after_launch();
  return y;
}

// Without a guard the launch goes to the thread's current device, whichever that is, and not to the input's.
Tensor scale_without_device_guard(const Tensor& input, double factor) {
  expect_float(input, "scale");
  check_pending();
  const Tensor x = input.contiguous();
  Tensor y = at::empty_like(x);
  kernels::scale(floats(x), static_cast<float*>(y.mutable_data_ptr()), x.numel(), static_cast<float>(factor),
                 current_stream(current_device()));
  check_after_launch();
  return y;
}

Tensor scale_on_host(const Tensor& input, double factor) {
  expect_float(input, "scale");
  return at::mul(input, factor);
}

// A private copy of the input is what the kernel reads, so that it can be freed early without harm to the caller.
Tensor sum_on_device(const Tensor& input, bool free_first) {
  expect_float(input, "sum");
  const c10::DeviceGuard guard(input.device());
  check_pending();
  Tensor buffer = input.contiguous().clone();
  Tensor sum = at::empty({}, input.options());
  const float* data = floats(buffer);
  const std::int64_t count = buffer.numel();
  if (free_first) buffer.reset();
  kernels::sum_buffer(data, count, static_cast<float*>(sum.mutable_data_ptr()), current_stream(input.get_device()));
  check_after_launch();
  return sum;
}

Tensor sum_alive(const Tensor& input) { return sum_on_device(input, false); }
Tensor sum_after_free(const Tensor& input) { return sum_on_device(input, true); }

Tensor sum_on_host(const Tensor& input) {
  expect_float(input, "sum");
  return at::sum(input);
}

}  // namespace

TORCH_LIBRARY(dsafuzz, m) {
  m.def("scale(Tensor input, float factor) -> Tensor");
  m.def("scale_without_bounds_check(Tensor input, float factor) -> Tensor");
  m.def("scale_without_device_guard(Tensor input, float factor) -> Tensor");
  m.def("sum_alive(Tensor input) -> Tensor");
  m.def("sum_after_free(Tensor input) -> Tensor");
  m.def("empty_cache() -> ()", &empty_cache);  // for Python's torch.vcuda.empty_cache
}

TORCH_LIBRARY_IMPL(dsafuzz, PrivateUse1, m) {
  m.impl("scale", &scale_on_device<&kernels::scale>);
  m.impl("scale_without_bounds_check", &scale_on_device<&kernels::scale_without_bounds_check>);
  m.impl("scale_without_device_guard", &scale_without_device_guard);
  m.impl("sum_alive", &sum_alive);
  m.impl("sum_after_free", &sum_after_free);
}

TORCH_LIBRARY_IMPL(dsafuzz, CPU, m) {
  m.impl("scale", &scale_on_host);
  m.impl("scale_without_bounds_check", &scale_on_host);
  m.impl("scale_without_device_guard", &scale_on_host);
  m.impl("sum_alive", &sum_on_host);
  m.impl("sum_after_free", &sum_on_host);
}

}  // namespace vcuda::aten
