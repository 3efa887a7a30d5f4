// multi_margin_loss, multilabel_margin_loss and binary_cross_entropy, forward and backward, on the virtual device.
#include <ATen/ATen.h>
#include <ATen/native/LossMulti.h>
#include <torch/library.h>

#include <tuple>

#include "kernels/aten/registration.h"
#include "kernels/loss/binary_cross_entropy.h"
#include "kernels/loss/multi_margin_loss.h"
#include "kernels/loss/multilabel_margin_loss.h"
#include "kernels/reduction/sum.h"

namespace vcuda::aten {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

Tensor defined_or_not(const OptionalTensor& tensor) { return tensor.value_or(Tensor()); }

// A tensor like `to` that kernels may write contiguously: `to` itself, if it will do. Carry the result over with
// finish().
Tensor writable(const Tensor& to) { return to.is_contiguous() ? to : at::empty_like(to, at::MemoryFormat::Contiguous); }
void finish(const Tensor& written, const Tensor& to) {
  if (!written.is_same(to)) to.copy_(written);
}

// The sum or mean of contiguous losses, into the only element of `out`.
void sum_into(const Tensor& losses, bool mean, const Tensor& out) {
  kernels::full_sum({.dtype = floating_dtype(losses.scalar_type(), "sum_cuda"),
                     .values = losses.const_data_ptr(),
                     .count = losses.numel(),
                     .mean = mean,
                     .out = out.mutable_data_ptr()},
                    stream_for(losses));
  check_after_launch();
}

// Runs `launch(losses)` for one loss a sample, and sums into `out` where a reduction is wanted.
template <typename Launch>
void per_sample(const Tensor& out, int64_t batch, int64_t reduction, const Launch& launch) {
  if (reduction == at::Reduction::None) {
    const Tensor losses = writable(out);
    launch(losses.mutable_data_ptr());
    check_after_launch();
    finish(losses, out);
    return;
  }
  const Tensor losses = at::empty({batch}, out.options());
  launch(losses.mutable_data_ptr());
  check_after_launch();
  sum_into(losses, false, out);
}

// What both directions of multi_margin_loss start with; the tensors keep alive what `args` points to.
struct MultiMargin {
  Tensor input, target, weights;
  kernels::MultiMarginLoss args;

  // `op` is the operator's name, for messages.
  MultiMargin(const char* op, const Tensor& self, const Tensor& labels, const at::Scalar& power,
              const at::Scalar& margin, const OptionalTensor& weight, int64_t reduction) {
    const int64_t p = power.toLong();
    TORCH_CHECK(p == 1 || p == 2, op, ": Invalid p, expected 1 or 2 but got ", p);
    at::native::multi_margin_loss_shape_check(args.batch, args.classes, self.dim(), self, labels, weight);
    input = self.contiguous();
    target = labels.contiguous();
    weights = defined_or_not(weight);
    if (weights.defined()) weights = weights.contiguous();
    args.squared = p == 2;
    args.mean = reduction == at::Reduction::Mean;
    args.margin = margin.toDouble();
  }

  // Requires: elements to work on.
  void resolve(const char* kernel) {
    args.dtype = floating_dtype(input.scalar_type(), kernel);
    expect_type(target, at::kLong);
    expect_type(weights, input.scalar_type());
    args.input = input.const_data_ptr();
    args.labels = target.const_data_ptr();
    args.weights = weights.defined() ? weights.const_data_ptr() : nullptr;
  }
};

Tensor& multi_margin_loss_out(const Tensor& self, const Tensor& target, const at::Scalar& p, const at::Scalar& margin,
                              const OptionalTensor& weight, int64_t reduction, Tensor& out) {
  const Tensor weights = defined_or_not(weight);
  expect_one_device("wrapper_CUDA__multi_margin_loss", {{self, "self"}, {target, "target"}, {weights, "weight"}});
  const c10::DeviceGuard guard(self.device());
  MultiMargin loss("multi_margin_loss", self, target, p, margin, weight, reduction);
  check_pending();
  const bool one_each = reduction == at::Reduction::None && target.dim() > 0;
  at::native::resize_output(out, one_each ? at::IntArrayRef(loss.args.batch) : at::IntArrayRef());
  if (self.numel() == 0) return out;
  loss.resolve("multi_margin_loss_cuda");
  per_sample(out, loss.args.batch, reduction,
             [&](void* losses) { kernels::multi_margin_loss_forward(loss.args, losses, stream_for(self)); });
  return out;
}

Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const at::Scalar& p, const at::Scalar& margin,
                         const OptionalTensor& weight, int64_t reduction) {
  Tensor out = at::empty({0}, self.options());
  return multi_margin_loss_out(self, target, p, margin, weight, reduction, out);
}

Tensor& multi_margin_loss_backward_out(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                       const at::Scalar& p, const at::Scalar& margin, const OptionalTensor& weight,
                                       int64_t reduction, Tensor& grad_input) {
  const Tensor weights = defined_or_not(weight);
  expect_one_device("wrapper_CUDA__multi_margin_loss_backward",
                    {{grad_output, "grad_output"}, {self, "self"}, {target, "target"}, {weights, "weight"}});
  const c10::DeviceGuard guard(self.device());
  MultiMargin loss("multi_margin_loss_backward", self, target, p, margin, weight, reduction);
  check_pending();
  grad_input.resize_as_(self);
  if (self.numel() == 0) return grad_input;
  loss.resolve("multi_margin_loss_backward_cuda");
  const Tensor grad = grad_output.contiguous();
  expect_type(grad, self.scalar_type());
  const Tensor written = writable(grad_input);
  kernels::multi_margin_loss_backward(loss.args, grad.const_data_ptr(), reduction != at::Reduction::None,
                                      written.mutable_data_ptr(), stream_for(self));
  check_after_launch();
  finish(written, grad_input);
  return grad_input;
}

Tensor multi_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                  const at::Scalar& p, const at::Scalar& margin, const OptionalTensor& weight,
                                  int64_t reduction) {
  Tensor grad_input = at::empty({0}, self.options());
  return multi_margin_loss_backward_out(grad_output, self, target, p, margin, weight, reduction, grad_input);
}

struct MultilabelMargin {
  Tensor input, target;
  kernels::MultilabelMarginLoss args;

  MultilabelMargin(const Tensor& self, const Tensor& labels, int64_t reduction) {
    at::native::multilabel_margin_loss_shape_check(args.batch, args.classes, self.dim(), self, labels);
    input = self.contiguous();
    target = labels.contiguous();
    args.mean = reduction == at::Reduction::Mean;
  }

  void resolve(const Tensor& marks, const char* kernel) {
    args.dtype = floating_dtype(input.scalar_type(), kernel);
    expect_type(target, at::kLong);
    expect_type(marks, input.scalar_type());
    args.input = input.const_data_ptr();
    args.labels = target.const_data_ptr();
    args.is_target = const_cast<void*>(marks.const_data_ptr());
  }
};

std::tuple<Tensor&, Tensor&> multilabel_margin_loss_forward_out(const Tensor& self, const Tensor& target,
                                                                int64_t reduction, Tensor& output, Tensor& is_target) {
  expect_one_device("wrapper_CUDA__multilabel_margin_loss_forward", {{self, "self"}, {target, "target"}});
  const c10::DeviceGuard guard(self.device());
  MultilabelMargin loss(self, target, reduction);
  check_pending();
  const bool one_each = reduction == at::Reduction::None && self.dim() > 1;
  at::native::resize_output(output, one_each ? at::IntArrayRef(loss.args.batch) : at::IntArrayRef());
  at::native::resize_output(is_target, target.sizes());
  if (self.numel() == 0) return {output, is_target};
  const Tensor marks = writable(is_target);
  loss.resolve(marks, "multilabel_margin_loss_forward_kernel");
  per_sample(output, loss.args.batch, reduction,
             [&](void* losses) { kernels::multilabel_margin_loss_forward(loss.args, losses, stream_for(self)); });
  finish(marks, is_target);
  return {output, is_target};
}

std::tuple<Tensor, Tensor> multilabel_margin_loss_forward(const Tensor& self, const Tensor& target, int64_t reduction) {
  Tensor output = at::empty({0}, self.options());
  Tensor is_target = at::empty({0}, self.options());
  multilabel_margin_loss_forward_out(self, target, reduction, output, is_target);
  return {output, is_target};
}

Tensor& multilabel_margin_loss_backward_out(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                            int64_t reduction, const Tensor& is_target, Tensor& grad_input) {
  expect_one_device("wrapper_CUDA__multilabel_margin_loss_backward",
                    {{grad_output, "grad_output"}, {self, "self"}, {target, "target"}, {is_target, "is_target"}});
  const c10::DeviceGuard guard(self.device());
  MultilabelMargin loss(self, target, reduction);
  check_pending();
  grad_input.resize_as_(self);
  if (self.numel() == 0) return grad_input;
  const Tensor marks = is_target.contiguous();
  loss.resolve(marks, "multilabel_margin_loss_backward_kernel");
  const Tensor grad = grad_output.contiguous();
  expect_type(grad, self.scalar_type());
  const Tensor written = writable(grad_input);
  const bool reduced = reduction != at::Reduction::None || self.dim() <= 1;
  kernels::multilabel_margin_loss_backward(loss.args, grad.const_data_ptr(), reduced, written.mutable_data_ptr(),
                                           stream_for(self));
  check_after_launch();
  finish(written, grad_input);
  return grad_input;
}

Tensor multilabel_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                       int64_t reduction, const Tensor& is_target) {
  Tensor grad_input = at::empty({0}, self.options());
  return multilabel_margin_loss_backward_out(grad_output, self, target, reduction, is_target, grad_input);
}

kernels::BinaryCrossEntropy arguments_of(const at::TensorIterator& iterator, const char* kernel) {
  const bool backward = iterator.ntensors() == 4;
  kernels::BinaryCrossEntropy args;
  args.dtype = floating_dtype(iterator.common_dtype(), kernel);
  args.count = iterator.numel();
  args.contiguous = iterator.is_contiguous();
  args.out = iterator.data_ptr(0);
  if (backward) args.grad_output = iterator.data_ptr(1);
  args.input = iterator.data_ptr(backward ? 2 : 1);
  args.target = iterator.data_ptr(backward ? 3 : 2);
  args.walk = walk_of<4>(iterator);
  return args;
}

Tensor& binary_cross_entropy_out(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                                 int64_t reduction, Tensor& loss) {
  const Tensor weights = defined_or_not(weight);
  const c10::DeviceGuard guard(self.device());
  check_pending();
  const auto iterator = at::TensorIteratorConfig()
                            .add_owned_output(at::squeeze(loss))
                            .add_owned_const_input(at::squeeze(self))
                            .add_owned_const_input(at::squeeze(target))
                            .build();
  if (iterator.numel() > 0) {
    kernels::binary_cross_entropy_forward(arguments_of(iterator, "binary_cross_entropy_out_cuda"), stream_for(self));
    check_after_launch();
  }
  if (weights.defined()) loss.mul_(weights);
  if (reduction != at::Reduction::None) {
    const Tensor losses = loss.contiguous(), reduced = at::empty({}, loss.options());
    sum_into(losses, reduction == at::Reduction::Mean, reduced);
    loss.resize_as_(reduced).copy_(reduced);
  }
  return loss;
}

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const OptionalTensor& weight, int64_t reduction) {
  Tensor loss = at::empty_like(self);
  return binary_cross_entropy_out(self, target, weight, reduction, loss);
}

Tensor& binary_cross_entropy_backward_out(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                          const OptionalTensor& weight, int64_t reduction, Tensor& grad_input) {
  const Tensor weights = defined_or_not(weight);
  expect_one_device("wrapper_CUDA__binary_cross_entropy_backward",
                    {{grad_output, "grad_output"}, {self, "self"}, {target, "target"}, {weights, "weight"}});
  const c10::DeviceGuard guard(self.device());
  check_pending();
  const auto iterator = at::TensorIteratorConfig()
                            .add_output(grad_input)
                            .add_owned_const_input(grad_output.expand_as(self))
                            .add_const_input(self)
                            .add_const_input(target)
                            .build();
  if (iterator.numel() > 0) {
    kernels::binary_cross_entropy_backward(arguments_of(iterator, "binary_cross_entropy_backward_out_cuda"),
                                           stream_for(self));
    check_after_launch();
  }
  if (weights.defined()) grad_input.mul_(weights);
  if (reduction == at::Reduction::Mean) grad_input.div_(self.numel());
  return grad_input;
}

Tensor binary_cross_entropy_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                     const OptionalTensor& weight, int64_t reduction) {
  Tensor grad_input = at::empty_like(self);
  return binary_cross_entropy_backward_out(grad_output, self, target, weight, reduction, grad_input);
}

}  // namespace

DSAFUZZ_OPERATORS(dense, m) {
  m.impl("multi_margin_loss", &multi_margin_loss);
  m.impl("multi_margin_loss.out", &multi_margin_loss_out);
  m.impl("multi_margin_loss_backward", &multi_margin_loss_backward);
  m.impl("multi_margin_loss_backward.grad_input", &multi_margin_loss_backward_out);
  m.impl("multilabel_margin_loss_forward", &multilabel_margin_loss_forward);
  m.impl("multilabel_margin_loss_forward.output", &multilabel_margin_loss_forward_out);
  m.impl("multilabel_margin_loss_backward", &multilabel_margin_loss_backward);
  m.impl("multilabel_margin_loss_backward.grad_input", &multilabel_margin_loss_backward_out);
  m.impl("binary_cross_entropy", &binary_cross_entropy);
  m.impl("binary_cross_entropy.out", &binary_cross_entropy_out);
  m.impl("binary_cross_entropy_backward", &binary_cross_entropy_backward);
  m.impl("binary_cross_entropy_backward.grad_input", &binary_cross_entropy_backward_out);
}

}  // namespace vcuda::aten
