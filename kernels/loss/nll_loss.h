// The negative log likelihood of class labels, [batch, classes] or [classes]: the kernels of ATen's Loss.cu.
// A label outside [0, classes) that is not `ignore_index` fails an assert. All tensors are contiguous.
//
// Asynchronous: failures surface as runtime.h says. Requires: batch > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct NllLoss {
  vcuda::DType dtype;             // of input, weights, losses and gradients: f16, bf16, f32 or f64
  vcuda::DType label_dtype;       // i64 or u8
  const void* input = nullptr;    // [batch, classes]; not read by the backward kernels
  const void* labels = nullptr;   // [batch]
  const void* weights = nullptr;  // [classes], or null: all ones
  std::int64_t batch = 1;
  std::int64_t classes = 0;
  std::int64_t ignore_index = -100;
  bool mean = false;  // divide by the total weight
};

// losses: [batch].
void nll_loss_forward_no_reduce(const NllLoss& args, void* losses, vcuda::Stream stream);
// One sample without a batch dimension. loss, total_weight: one element each.
void nll_loss_forward_reduce_1d(const NllLoss& args, void* loss, void* total_weight, vcuda::Stream stream);
void nll_loss_forward_reduce_2d(const NllLoss& args, void* loss, void* total_weight, vcuda::Stream stream);

// grad_input: [batch, classes], zeroed by the caller. grad_output: [batch], or one element where reduced.
void nll_loss_backward_no_reduce(const NllLoss& args, const void* grad_output, void* grad_input, vcuda::Stream stream);
void nll_loss_backward_reduce_1d(const NllLoss& args, const void* grad_output, const void* total_weight,
                                 void* grad_input, vcuda::Stream stream);
void nll_loss_backward_reduce_2d(const NllLoss& args, const void* grad_output, const void* total_weight,
                                 void* grad_input, vcuda::Stream stream);

}  // namespace kernels
