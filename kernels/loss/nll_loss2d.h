// The negative log likelihood of one label a pixel, [batch, classes, pixels]: the kernels of ATen's NLLLoss2d.cu.
// The reduced forward kernel has a 32-bit form that drops the label's upper half before it looks at it, as CUDA's does
// (a label of valid + m * 2^32 passes unseen); all others read 64 bits. All tensors are contiguous.
//
// Asynchronous: failures surface as runtime.h says. Requires: batch > 0 and height * width > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct NllLoss2d {
  vcuda::DType dtype;             // of input, weights, losses and gradients: f16, bf16, f32 or f64
  const void* input = nullptr;    // [batch, classes, height, width]; not read by the backward kernels
  const void* labels = nullptr;   // [batch, height, width] int64
  const void* weights = nullptr;  // [classes], or null: all ones
  std::int64_t batch = 0, classes = 0, height = 0, width = 0;
  std::int64_t ignore_index = -100;
  bool mean = false;   // divide by the total weight
  bool narrow = true;  // the tensors can be indexed by 32 bits
};

// losses: [batch, height, width].
void nll_loss2d_forward_no_reduce(const NllLoss2d& args, void* losses, vcuda::Stream stream);
// loss, total_weight: one element each. sums: two zeros for the kernels to add up in, double for f64, else float.
void nll_loss2d_forward(const NllLoss2d& args, void* loss, void* total_weight, void* sums, vcuda::Stream stream);

// grad_input: like input, zeroed by the caller. grad_output: like losses, or one element where reduced.
void nll_loss2d_backward_no_reduce(const NllLoss2d& args, const void* grad_output, void* grad_input,
                                   vcuda::Stream stream);
void nll_loss2d_backward(const NllLoss2d& args, const void* grad_output, const void* total_weight, void* grad_input,
                         vcuda::Stream stream);

}  // namespace kernels
