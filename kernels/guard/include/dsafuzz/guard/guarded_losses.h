// Losses, checked and then computed: use them in place of ATen's. check_NAME only checks. They return what ATen's
// function of the same name returns, with gradients as usual; switched off, they are that function.
#pragma once

#include <ATen/ATen.h>
#include <dsafuzz/guard/check_inputs.h>
#include <dsafuzz/guard/check_values.h>

#include <cstdint>

namespace dsafuzz::guard {

// As torch::nn::functional's, with ATen's names. The checks of `input` cost a reduction over all of it.
struct LossOptions {
  at::Tensor weight = {};  // undefined: none
  std::int64_t reduction = at::Reduction::Mean;
  std::int64_t ignore_index = -100;  // of class indices
  double label_smoothing = 0;        // of cross_entropy
  bool finite_input = false;         // also refuse NaN and infinite logits; minus infinity is a legal way to mask
};

namespace detail {

inline void check_class_loss(const char* call, const at::Tensor& input, const at::Tensor& target,
                             const LossOptions& options, bool probabilities) {
  check_defined(input, {call, "input"});
  check_defined(target, {call, "target"});
  check_floating(input, {call, "input"});
  check_same_device(target, input, {call, "target"});
  check_same_device(options.weight, input, {call, "weight"});
  if (probabilities && target.is_floating_point()) {
    check_shape(target, input.sizes(), {call, "target"});
    check_probabilities(target, {call, "target"});
  } else {
    // Losses of images take Long alone.
    if (input.dim() > 2) {
      check_dtype(target, {at::kLong}, {call, "target"});
    } else {
      check_dtype(target, {at::kLong, at::kByte}, {call, "target"});
    }
    check_label_shape(input, target, {call, "target"});
    check_labels(target, classes_of(input), options.ignore_index, {call, "target"});
  }
  if (options.weight.defined()) check_shape(options.weight, {classes_of(input)}, {call, "weight"});
  if (options.finite_input) check_finite(input, {call, "input"});
}

}  // namespace detail

// Floating input (N, C, d1...) or (C); target of class indices (N, d1...), or of probabilities shaped as the input.
inline void check_cross_entropy(const at::Tensor& input, const at::Tensor& target, const LossOptions& options = {}) {
  if (enabled()) detail::check_class_loss("cross_entropy", input, target, options, true);
}
inline at::Tensor cross_entropy(const at::Tensor& input, const at::Tensor& target, const LossOptions& options = {}) {
  check_cross_entropy(input, target, options);
  return at::cross_entropy_loss(input, target, options.weight, options.reduction, options.ignore_index,
                                options.label_smoothing);
}

// Log probabilities, as log_softmax gives; target of class indices.
inline void check_nll_loss(const at::Tensor& input, const at::Tensor& target, const LossOptions& options = {}) {
  if (enabled()) detail::check_class_loss("nll_loss", input, target, options, false);
}
inline at::Tensor nll_loss(const at::Tensor& input, const at::Tensor& target, const LossOptions& options = {}) {
  check_nll_loss(input, target, options);
  return at::nll_loss_nd(input, target, options.weight, options.reduction, options.ignore_index);
}

// Probabilities on both sides, of one shape. NaN is none.
inline void check_binary_cross_entropy(const at::Tensor& input, const at::Tensor& target,
                                       const LossOptions& options = {}) {
  if (!enabled()) return;
  const char* call = "binary_cross_entropy";
  check_defined(input, {call, "input"});
  check_defined(target, {call, "target"});
  check_floating(input, {call, "input"});
  check_floating(target, {call, "target"});
  check_same_device(target, input, {call, "target"});
  check_same_device(options.weight, input, {call, "weight"});
  check_shape(target, input.sizes(), {call, "target"});
  check_probabilities(input, {call, "input"});
  check_probabilities(target, {call, "target"});
}
inline at::Tensor binary_cross_entropy(const at::Tensor& input, const at::Tensor& target,
                                       const LossOptions& options = {}) {
  check_binary_cross_entropy(input, target, options);
  return at::binary_cross_entropy(input, target, options.weight, options.reduction);
}

}  // namespace dsafuzz::guard
