// The margin loss of several class labels a sample: the kernels of ATen's MultiLabelMarginCriterion.cu. A row of labels
// ends at the first negative one, whatever its value. Nothing checks that a label is below `classes`: such a one is
// read, marked and differentiated outside its row, which is silent as long as it stays within the tensors' memory. All
// tensors are contiguous.
//
// Asynchronous: failures surface as runtime.h says. Requires: batch > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct MultilabelMarginLoss {
  vcuda::DType dtype;            // of input, is_target, losses and gradients: f16, bf16, f32 or f64
  const void* input = nullptr;   // [batch, classes]
  const void* labels = nullptr;  // int64, [batch, classes], read as 32 bits
  void* is_target = nullptr;     // [batch, classes]: one where a label names the class; the backward kernel reads it
  std::int64_t batch = 1;
  std::int64_t classes = 0;
  bool mean = false;  // divide by the batch size
};

// losses: [batch].
void multilabel_margin_loss_forward(const MultilabelMarginLoss& args, void* losses, vcuda::Stream stream);
// grad_input: [batch, classes]. grad_output: [batch], or one element where `reduced`.
void multilabel_margin_loss_backward(const MultilabelMarginLoss& args, const void* grad_output, bool reduced,
                                     void* grad_input, vcuda::Stream stream);

}  // namespace kernels
