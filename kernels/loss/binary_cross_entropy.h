// Binary cross entropy, element by element: the functors of ATen's Loss.cu. An input or a target outside [0, 1], NaN
// included, fails an assert in the forward kernel; the backward kernel checks nothing. Weights and means are the
// caller's.
//
// Asynchronous: failures surface as runtime.h says. Requires: count > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct BinaryCrossEntropy {
  vcuda::DType dtype;  // of all operands: f16, bf16, f32 or f64
  std::int64_t count = 0;
  bool contiguous = false;  // all operands are, so that a thread takes neighbours
  const void* input = nullptr;
  const void* target = nullptr;
  void* out = nullptr;                // the losses, or the gradient of the input
  const void* grad_output = nullptr;  // backward only
  vcuda::Walk<4> walk;                // forward: out, input, target; backward: out, grad_output, input, target
};
void binary_cross_entropy_forward(const BinaryCrossEntropy& args, vcuda::Stream stream);
void binary_cross_entropy_backward(const BinaryCrossEntropy& args, vcuda::Stream stream);

}  // namespace kernels
