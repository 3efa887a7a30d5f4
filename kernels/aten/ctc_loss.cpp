// ctc_loss on the virtual device: the host checks of ATen's CUDA operator, which look at lengths but at no label.
#include "kernels/loss/ctc_loss.h"

#include <ATen/ATen.h>
#include <ATen/TensorUtils.h>
#include <torch/library.h>

#include "kernels/aten/registration.h"

namespace vcuda::aten {
namespace {

using at::IntArrayRef;
using at::Tensor;

// The kernels' arguments, and the tensors that they point into.
struct Prepared {
  kernels::CtcLoss args;
  Tensor labels, label_offsets, steps_of, labels_of;
};

Tensor on_device(IntArrayRef values, const Tensor& like) {
  return at::tensor(values, at::TensorOptions(at::kLong)).to(like.device());
}

Prepared prepare(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths,
                 int64_t blank) {
  const at::CheckedFrom c = "ctc_loss_gpu";
  const at::TensorArg log_probs_arg(log_probs, "log_probs", 1);
  const at::TensorArg targets_arg(targets, "targets", 2);
  expect_one_device("wrapper_CUDA___ctc_loss", {{log_probs, "log_probs"}, {targets, "targets"}});
  at::checkScalarTypes(c, targets_arg, {at::kLong, at::kInt});
  at::checkDim(c, log_probs_arg, 3);
  at::checkDimRange(c, targets_arg, 1, 3);
  Prepared prepared;
  kernels::CtcLoss& args = prepared.args;
  args.steps = log_probs.size(0);
  args.batch = log_probs.size(1);
  args.classes = log_probs.size(2);
  args.blank = blank;
  TORCH_CHECK(blank >= 0 && blank < args.classes, "blank must be in label range");
  TORCH_CHECK(static_cast<int64_t>(input_lengths.size()) == args.batch, "input_lengths must be of size batch_size");
  TORCH_CHECK(static_cast<int64_t>(target_lengths.size()) == args.batch, "target_lengths must be of size batch_size");

  const bool joined = targets.dim() == 1;
  std::vector<int64_t> offsets;
  int64_t position = 0;
  for (int64_t i = 0; i < args.batch; ++i) {
    const int64_t length = target_lengths[static_cast<std::size_t>(i)];
    TORCH_CHECK(length >= 0, "Expected target_lengths to have value at least 0, but got value ", length,
                " (while checking arguments for ", c, ")");
    offsets.push_back(joined ? position * targets.stride(0) : i * targets.stride(0));
    position += length;
    args.most_labels = std::max(args.most_labels, length);
  }
  at::checkSize(c, targets_arg, 0, joined ? position : args.batch);
  TORCH_CHECK(joined || targets.size(1) >= args.most_labels, "Expected tensor to have size at least ", args.most_labels,
              " at dimension 1, but got size ", targets.size(1), " for ", targets_arg,
              " (while checking arguments for ", c, ")");
  for (const int64_t length : input_lengths) {
    TORCH_CHECK(length >= 0, "Expected input_lengths to have value at least 0, but got value ", length,
                " (while checking arguments for ", c, ")");
    TORCH_CHECK(length <= args.steps, "Expected input_lengths to have value at most ", args.steps, ", but got value ",
                length, " (while checking arguments for ", c, ")");
  }

  if (log_probs.scalar_type() != at::kFloat && log_probs.scalar_type() != at::kDouble) {
    throw_no_kernel("ctc_loss_cuda", log_probs.scalar_type());
  }
  args.dtype = floating_dtype(log_probs.scalar_type(), "ctc_loss_cuda");
  args.log_probabilities = log_probs.const_data_ptr();
  args.step_stride = log_probs.stride(0);
  args.batch_stride = log_probs.stride(1);
  args.class_stride = log_probs.stride(2);
  args.label_stride = targets.stride(joined ? 0 : 1);
  // Strides stay: a conversion keeps them only of dense tensors.
  prepared.labels = targets;
  if (targets.scalar_type() == at::kInt) {
    prepared.labels = at::empty_strided(targets.sizes(), targets.strides(), targets.options().dtype(at::kLong));
    prepared.labels.copy_(targets);
  }
  prepared.label_offsets = on_device(offsets, log_probs);
  prepared.steps_of = on_device(input_lengths, log_probs);
  prepared.labels_of = on_device(target_lengths, log_probs);
  args.labels = static_cast<const int64_t*>(prepared.labels.const_data_ptr());
  args.label_offsets = static_cast<const int64_t*>(prepared.label_offsets.const_data_ptr());
  args.steps_of = static_cast<const int64_t*>(prepared.steps_of.const_data_ptr());
  args.labels_of = static_cast<const int64_t*>(prepared.labels_of.const_data_ptr());
  return prepared;
}

std::tuple<Tensor, Tensor> ctc_loss(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                                    IntArrayRef target_lengths, int64_t blank, bool /*zero_infinity*/) {
  const c10::DeviceGuard guard(log_probs.device());
  const Prepared prepared = prepare(log_probs, targets, input_lengths, target_lengths, blank);
  const kernels::CtcLoss& args = prepared.args;
  check_pending();
  Tensor losses = at::empty({args.batch}, log_probs.options());
  Tensor log_alpha = at::empty({args.batch, args.steps, 2 * args.most_labels + 1}, log_probs.options());
  if (args.batch > 0) {
    kernels::ctc_loss_forward(args, losses.mutable_data_ptr(), log_alpha.mutable_data_ptr(), stream_for(log_probs));
    check_after_launch();
  }
  return {losses, log_alpha};
}

Tensor ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
                         IntArrayRef target_lengths, const Tensor& losses, const Tensor& log_alpha, int64_t blank,
                         bool zero_infinity) {
  const c10::DeviceGuard guard(log_probs.device());
  const Prepared prepared = prepare(log_probs, targets, input_lengths, target_lengths, blank);
  const kernels::CtcLoss& args = prepared.args;
  check_pending();
  Tensor grad_input = at::full(log_probs.sizes(), -std::numeric_limits<double>::infinity(), log_probs.options());
  if (grad_input.numel() == 0) return grad_input;
  const Tensor log_beta = at::empty_like(log_alpha);
  const Tensor dense_grad = grad.contiguous();
  kernels::ctc_loss_backward(args, losses.contiguous().const_data_ptr(), log_alpha.contiguous().const_data_ptr(),
                             dense_grad.const_data_ptr(), log_beta.mutable_data_ptr(), grad_input.mutable_data_ptr(),
                             zero_infinity, stream_for(log_probs));
  check_after_launch();
  return grad_input;
}

std::vector<int64_t> to_host(const Tensor& lengths) {
  TORCH_CHECK(at::isIntegralType(lengths.scalar_type(), /*includeBool=*/false),
              "input_lengths and target_lengths must be integral");
  const Tensor values = lengths.to(at::kCPU, at::kLong).contiguous();
  const auto* const first = static_cast<const int64_t*>(values.const_data_ptr());
  return {first, first + values.numel()};
}

std::tuple<Tensor, Tensor> ctc_loss_tensor(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                                           const Tensor& target_lengths, int64_t blank, bool zero_infinity) {
  return ctc_loss(log_probs, targets, to_host(input_lengths), to_host(target_lengths), blank, zero_infinity);
}

Tensor ctc_loss_backward_tensor(const Tensor& grad, const Tensor& log_probs, const Tensor& targets,
                                const Tensor& input_lengths, const Tensor& target_lengths, const Tensor& losses,
                                const Tensor& log_alpha, int64_t blank, bool zero_infinity) {
  return ctc_loss_backward(grad, log_probs, targets, to_host(input_lengths), to_host(target_lengths), losses, log_alpha,
                           blank, zero_infinity);
}

}  // namespace

DSAFUZZ_OPERATORS(dense, m) {
  m.impl("_ctc_loss", &ctc_loss);
  m.impl("_ctc_loss.Tensor", &ctc_loss_tensor);
  m.impl("_ctc_loss_backward", &ctc_loss_backward);
  m.impl("_ctc_loss_backward.Tensor", &ctc_loss_backward_tensor);
}

}  // namespace vcuda::aten
