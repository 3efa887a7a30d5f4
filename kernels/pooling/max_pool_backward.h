// The gradients of max_pool2d and 3d, plain and adaptive, from the indices of the maxima. No kernel checks an index, as
// on a GPU: max_pool2d only compares, so a wrong index loses its gradient; the others add to wherever the index points.
// All tensors are contiguous.
//
// Asynchronous: failures surface as runtime.h says. Requires: no size is zero.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct MaxPoolBackward {
  vcuda::DType dtype;                     // f16, bf16, f32 or f64
  const void* grad_output = nullptr;      // [batch, planes, out_time, out_height, out_width]
  const std::int64_t* indices = nullptr;  // as grad_output
  void* grad_input = nullptr;             // [batch, planes, time, height, width], zeroed by the caller
  int batch = 1, planes = 1;
  int time = 1, height = 1, width = 1;  // in two dimensions times are 1
  int out_time = 1, out_height = 1, out_width = 1;
};

struct PoolWindow {
  int kernel = 1, stride = 1, padding = 0, dilation = 1;
};

void max_pool2d_backward(const MaxPoolBackward& args, PoolWindow rows, PoolWindow columns, vcuda::Stream stream);
void max_pool3d_backward(const MaxPoolBackward& args, vcuda::Stream stream);
void adaptive_max_pool2d_backward(const MaxPoolBackward& args, vcuda::Stream stream);
void adaptive_max_pool3d_backward(const MaxPoolBackward& args, vcuda::Stream stream);

}  // namespace kernels
