// Connectionist temporal classification: the kernels of ATen's LossCTC.cu. They check no label: one outside
// [0, classes) reads and writes beside its row, which is silent inside the tensor and a memory fault outside, as on
// CUDA.
//
// Asynchronous: failures surface as runtime.h says. Requires: batch > 0, steps > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct CtcLoss {
  vcuda::DType dtype;                              // f32 or f64
  const void* log_probabilities = nullptr;         // [steps, batch, classes], any strides
  std::int64_t step_stride = 0, batch_stride = 0;  // in elements
  std::int64_t class_stride = 0;
  const std::int64_t* labels = nullptr;
  std::int64_t label_stride = 1;
  const std::int64_t* label_offsets = nullptr;  // [batch]: where each sample's labels begin
  const std::int64_t* steps_of = nullptr;       // [batch]: at most `steps`
  const std::int64_t* labels_of = nullptr;      // [batch]: at most `most_labels`
  std::int64_t batch = 0, steps = 0, classes = 0, most_labels = 0;
  std::int64_t blank = 0;
};

// losses: [batch]. log_alpha: [batch, steps, 2 * most_labels + 1], contiguous.
void ctc_loss_forward(const CtcLoss& args, void* losses, void* log_alpha, vcuda::Stream stream);

// log_beta: as log_alpha, work space. grad: [batch]. grad_input: [steps, batch, classes], contiguous; its contents on
// entry must be minus infinity. An infinite loss has gradient zero with `zero_infinity`.
void ctc_loss_backward(const CtcLoss& args, const void* losses, const void* log_alpha, const void* grad, void* log_beta,
                       void* grad_input, bool zero_infinity, vcuda::Stream stream);

}  // namespace kernels
