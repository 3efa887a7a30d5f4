// The gradients of fractional_max_pool2d and 3d: each output's gradient is added to the input that the index names.
// The kernels of ATen's FractionalMaxPool2d.cu and FractionalMaxPool3d.cu. An index outside the input plane fails an
// assert; in two dimensions only its lower 32 bits are looked at. All tensors are contiguous.
//
// Asynchronous: failures surface as runtime.h says. Requires: no size of the input is zero.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct FractionalMaxPoolBackward {
  vcuda::DType dtype;                     // f16, bf16, f32 or f64
  const void* grad_output = nullptr;      // [batch, planes, outputs]
  const std::int64_t* indices = nullptr;  // as grad_output
  void* grad_input = nullptr;             // [batch, planes, time, height, width], zeroed by the caller
  std::int64_t batch = 1, planes = 1;
  std::int64_t outputs = 1;
  std::int64_t time = 1, height = 1, width = 1;  // in two dimensions time is 1
};

void fractional_max_pool2d_backward(const FractionalMaxPoolBackward& args, vcuda::Stream stream);
void fractional_max_pool3d_backward(const FractionalMaxPoolBackward& args, vcuda::Stream stream);

}  // namespace kernels
