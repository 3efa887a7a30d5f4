// The multi-class margin loss of class labels: the kernels of ATen's MultiMarginLoss.cu. A label is read as 32 bits,
// and one outside [0, classes) then fails an assert in the forward kernel only: the backward kernel uses it unchecked,
// which is silent as long as it stays within the tensors' memory. All tensors are contiguous.
//
// Asynchronous: failures surface as runtime.h says. Requires: batch > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct MultiMarginLoss {
  vcuda::DType dtype;             // of input, weights, losses and gradients: f16, bf16, f32 or f64
  const void* input = nullptr;    // [batch, classes]
  const void* labels = nullptr;   // int64, [batch]
  const void* weights = nullptr;  // [classes], or null: all ones
  std::int64_t batch = 1;
  std::int64_t classes = 0;
  bool squared = false;  // p = 2
  bool mean = false;     // divide by the batch size
  double margin = 1;
};

// losses: [batch].
void multi_margin_loss_forward(const MultiMarginLoss& args, void* losses, vcuda::Stream stream);
// grad_input: [batch, classes]. grad_output: [batch], or one element where `reduced`.
void multi_margin_loss_backward(const MultiMarginLoss& args, const void* grad_output, bool reduced, void* grad_input,
                                vcuda::Stream stream);

}  // namespace kernels
