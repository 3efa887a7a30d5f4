// nll_loss and nll_loss2d, forward and backward, on the virtual device.
#include "kernels/loss/nll_loss.h"

#include <ATen/ATen.h>
#include <ATen/native/CanUse32BitIndexMath.h>
#include <ATen/ops/nll_loss_backward_meta.h>
#include <ATen/ops/nll_loss_forward_meta.h>
#include <torch/library.h>

#include <limits>
#include <tuple>

#include "kernels/aten/registration.h"
#include "kernels/loss/nll_loss2d.h"

namespace vcuda::aten {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const void* pointer_or_null(const Tensor& tensor) { return tensor.defined() ? tensor.const_data_ptr() : nullptr; }

Tensor contiguous_or_undefined(const OptionalTensor& tensor) {
  return tensor.has_value() && tensor->defined() ? tensor->contiguous() : Tensor();
}

at::OptionalTensorRef reference_or_none(const Tensor& tensor) {
  return tensor.defined() ? at::OptionalTensorRef(tensor) : at::OptionalTensorRef();
}

// A tensor that kernels may write contiguously; finish() carries the result to where it belongs.
struct Target {
  explicit Target(const Tensor& to)
      : wanted(to), written(to.is_contiguous() ? to : at::empty_like(to, at::MemoryFormat::Contiguous)) {}
  void finish() const {
    if (!written.is_same(wanted)) wanted.copy_(written);
  }
  Tensor wanted, written;
};

void fill_empty_loss(const Tensor& loss, const Tensor& total_weight, int64_t reduction) {
  if (reduction == at::Reduction::Mean) {
    loss.fill_(kNaN);
  } else {
    loss.zero_();
  }
  total_weight.zero_();
}

// `kernel`: the name ATen dispatches the input's type under; the label's type goes by that name and "_index".
kernels::NllLoss arguments_of(const Tensor& input, const Tensor& labels, const Tensor& weights, int64_t reduction,
                              int64_t ignore_index, const char* kernel) {
  kernels::NllLoss args;
  args.dtype = floating_dtype(input.scalar_type(), kernel);
  if (labels.scalar_type() != at::kByte && labels.scalar_type() != at::kLong) {
    throw_no_kernel((std::string(kernel) + "_index").c_str(), labels.scalar_type());
  }
  args.label_dtype = labels.scalar_type() == at::kByte ? DType::u8 : DType::i64;
  expect_type(weights, input.scalar_type());
  args.input = input.const_data_ptr();
  args.labels = labels.const_data_ptr();
  args.weights = pointer_or_null(weights);
  args.batch = input.dim() == 1 ? 1 : input.size(0);
  args.classes = input.size(-1);
  args.ignore_index = ignore_index;
  args.mean = reduction == at::Reduction::Mean;
  return args;
}

std::tuple<Tensor&, Tensor&> nll_loss_forward(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                                              int64_t reduction, int64_t ignore_index, Tensor& output,
                                              Tensor& total_weight) {
  const Tensor weights = contiguous_or_undefined(weight);
  expect_one_device("wrapper_CUDA_nll_loss_forward", {{self, "self"}, {target, "target"}, {weights, "weight"}});
  const c10::DeviceGuard guard(self.device());
  Outputs<at::meta::structured_nll_loss_forward> op(output, total_weight);
  op.meta(self, target, reference_or_none(weights), reduction, ignore_index);
  check_pending();

  const Tensor input = self.contiguous();
  const Tensor labels = target.contiguous();
  if (reduction == at::Reduction::None && input.dim() == 2) {
    total_weight.zero_();
    if (input.size(0) == 0) return {output, total_weight};
    const auto args =
        arguments_of(input, labels, weights, reduction, ignore_index, "nll_loss_forward_no_reduce_cuda_kernel");
    const Target losses(output);
    kernels::nll_loss_forward_no_reduce(args, losses.written.mutable_data_ptr(), stream_for(self));
    check_after_launch();
    losses.finish();
    return {output, total_weight};
  }
  if (labels.numel() == 0) {
    fill_empty_loss(output, total_weight, reduction);
    return {output, total_weight};
  }
  const bool batched = input.dim() == 2;
  const auto args =
      arguments_of(input, labels, weights, reduction, ignore_index,
                   batched ? "nll_loss_forward_reduce_cuda_kernel_2d" : "nll_loss_forward_reduce_cuda_kernel_1d");
  const auto launch = batched ? &kernels::nll_loss_forward_reduce_2d : &kernels::nll_loss_forward_reduce_1d;
  launch(args, output.mutable_data_ptr(), total_weight.mutable_data_ptr(), stream_for(self));
  check_after_launch();
  return {output, total_weight};
}

Tensor& nll_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                          const OptionalTensor& weight, int64_t reduction, int64_t ignore_index,
                          const Tensor& total_weight, Tensor& grad_input) {
  const Tensor weights = contiguous_or_undefined(weight);
  expect_one_device("wrapper_CUDA_nll_loss_backward", {{grad_output, "grad_output"},
                                                       {self, "self"},
                                                       {target, "target"},
                                                       {weights, "weight"},
                                                       {total_weight, "total_weight"}});
  const c10::DeviceGuard guard(self.device());
  Outputs<at::meta::structured_nll_loss_backward> op(grad_input);
  op.meta(grad_output, self, target, reference_or_none(weights), reduction, ignore_index, total_weight);
  check_pending();

  grad_input.zero_();
  if (self.numel() == 0 || target.numel() == 0) return grad_input;
  const Tensor input = self.contiguous();
  const Tensor labels = target.contiguous();
  const Tensor grad = grad_output.contiguous();
  expect_type(grad, input.scalar_type());
  const Target gradient(grad_input);
  if (!gradient.written.is_same(grad_input)) gradient.written.zero_();
  void* out = gradient.written.mutable_data_ptr();
  const Stream stream = stream_for(self);
  if (reduction == at::Reduction::None && input.dim() == 2) {
    const auto args =
        arguments_of(input, labels, weights, reduction, ignore_index, "nll_loss_backward_no_reduce_cuda_kernel");
    kernels::nll_loss_backward_no_reduce(args, grad.const_data_ptr(), out, stream);
  } else {
    expect_type(total_weight, input.scalar_type());
    const bool batched = input.dim() == 2;
    const auto args =
        arguments_of(input, labels, weights, reduction, ignore_index,
                     batched ? "nll_loss_backward_reduce_cuda_kernel_2d" : "nll_loss_backward_reduce_cuda_kernel_1d");
    const auto launch = batched ? &kernels::nll_loss_backward_reduce_2d : &kernels::nll_loss_backward_reduce_1d;
    launch(args, grad.const_data_ptr(), total_weight.const_data_ptr(), out, stream);
  }
  check_after_launch();
  gradient.finish();
  return grad_input;
}

void check_2d(const Tensor& input, const Tensor& target, const Tensor& weights) {
  TORCH_CHECK(target.dim() == 3,
              "only batches of spatial targets supported (3D tensors) but got targets of size: : ", target.sizes());
  TORCH_CHECK(input.dim() == 4,
              "only batches of spatial inputs supported (4D tensors), but got input of size: ", input.sizes());
  TORCH_CHECK(!weights.defined() || weights.numel() == input.size(1),
              "weight tensor should be defined either for all or no classes");
  TORCH_CHECK(input.size(0) == target.size(0) && input.size(2) == target.size(1) && input.size(3) == target.size(2),
              "input and target batch or spatial sizes don't match: target ", target.sizes(), ", input ",
              input.sizes());
}

kernels::NllLoss2d arguments_2d_of(const Tensor& input, const Tensor& labels, const Tensor& weights, int64_t reduction,
                                   int64_t ignore_index, const char* kernel) {
  kernels::NllLoss2d args;
  args.dtype = floating_dtype(input.scalar_type(), kernel);
  expect_type(labels, at::kLong);
  expect_type(weights, input.scalar_type());
  args.input = input.const_data_ptr();
  args.labels = labels.const_data_ptr();
  args.weights = pointer_or_null(weights);
  args.batch = input.size(0);
  args.classes = input.size(1);
  args.height = input.size(2);
  args.width = input.size(3);
  args.ignore_index = ignore_index;
  args.mean = reduction == at::Reduction::Mean;
  args.narrow = at::native::canUse32BitIndexMath(input) && at::native::canUse32BitIndexMath(labels);
  return args;
}

std::tuple<Tensor&, Tensor&> nll_loss2d_forward_out(const Tensor& self, const Tensor& target,
                                                    const OptionalTensor& weight, int64_t reduction,
                                                    int64_t ignore_index, Tensor& output, Tensor& total_weight) {
  const Tensor weights = contiguous_or_undefined(weight);
  expect_one_device("wrapper_CUDA__nll_loss2d_forward", {{self, "self"}, {target, "target"}, {weights, "weight"}});
  const c10::DeviceGuard guard(self.device());
  check_2d(self, target, weights);
  check_pending();
  const Tensor input = self.contiguous();
  const Tensor labels = target.contiguous();
  total_weight.resize_({});
  if (reduction == at::Reduction::None) {
    at::native::resize_output(output, target.sizes());
    total_weight.zero_();
    if (labels.numel() == 0) return {output, total_weight};
    const auto args =
        arguments_2d_of(input, labels, weights, reduction, ignore_index, "nll_loss2d_forward_no_reduce_kernel");
    const Target losses(output);
    kernels::nll_loss2d_forward_no_reduce(args, losses.written.mutable_data_ptr(), stream_for(self));
    check_after_launch();
    losses.finish();
    return {output, total_weight};
  }
  at::native::resize_output(output, {});
  if (labels.numel() == 0) {
    fill_empty_loss(output, total_weight, reduction);
    return {output, total_weight};
  }
  const auto args = arguments_2d_of(input, labels, weights, reduction, ignore_index, "nll_loss2d_forward_kernel");
  const Tensor sums = at::zeros({2}, input.options().dtype(args.dtype == DType::f64 ? at::kDouble : at::kFloat));
  kernels::nll_loss2d_forward(args, output.mutable_data_ptr(), total_weight.mutable_data_ptr(), sums.mutable_data_ptr(),
                              stream_for(self));
  check_after_launch();
  return {output, total_weight};
}

std::tuple<Tensor, Tensor> nll_loss2d_forward(const Tensor& self, const Tensor& target, const OptionalTensor& weight,
                                              int64_t reduction, int64_t ignore_index) {
  Tensor output = at::empty({0}, self.options());
  Tensor total_weight = at::empty({0}, self.options());
  nll_loss2d_forward_out(self, target, weight, reduction, ignore_index, output, total_weight);
  return {output, total_weight};
}

Tensor& nll_loss2d_backward_out(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                                const OptionalTensor& weight, int64_t reduction, int64_t ignore_index,
                                const Tensor& total_weight, Tensor& grad_input) {
  const Tensor weights = contiguous_or_undefined(weight);
  expect_one_device("wrapper_CUDA__nll_loss2d_backward", {{grad_output, "grad_output"},
                                                          {self, "self"},
                                                          {target, "target"},
                                                          {weights, "weight"},
                                                          {total_weight, "total_weight"}});
  const c10::DeviceGuard guard(self.device());
  check_2d(self, target, weights);
  check_pending();
  grad_input.resize_as_(self);
  grad_input.zero_();
  const bool reduced = reduction != at::Reduction::None;
  TORCH_CHECK(reduced ? grad_output.numel() == 1 : grad_output.sizes() == target.sizes(),
              "Expected a single element grad_output tensor or one like target, but got: ", grad_output.sizes());
  if (target.numel() == 0) return grad_input;
  const Tensor input = self.contiguous();
  const Tensor labels = target.contiguous();
  const Tensor grad = grad_output.contiguous();
  const auto args = arguments_2d_of(input, labels, weights, reduction, ignore_index,
                                    reduced ? "nll_loss2d_backward_kernel" : "nll_loss2d_backward_no_reduce_kernel");
  expect_type(grad, input.scalar_type());
  const Target gradient(grad_input);
  if (!gradient.written.is_same(grad_input)) gradient.written.zero_();
  void* out = gradient.written.mutable_data_ptr();
  if (reduced) {
    expect_type(total_weight, input.scalar_type());
    kernels::nll_loss2d_backward(args, grad.const_data_ptr(), total_weight.const_data_ptr(), out, stream_for(self));
  } else {
    kernels::nll_loss2d_backward_no_reduce(args, grad.const_data_ptr(), out, stream_for(self));
  }
  check_after_launch();
  gradient.finish();
  return grad_input;
}

Tensor nll_loss2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target,
                           const OptionalTensor& weight, int64_t reduction, int64_t ignore_index,
                           const Tensor& total_weight) {
  Tensor grad_input = at::empty({0}, self.options());
  return nll_loss2d_backward_out(grad_output, self, target, weight, reduction, ignore_index, total_weight, grad_input);
}

}  // namespace

// The functional forms of structured operators come with LibTorch: they call these.
DSAFUZZ_OPERATORS(dense, m) {
  m.impl("nll_loss_forward.output", &nll_loss_forward);
  m.impl("nll_loss_backward.grad_input", &nll_loss_backward);
  m.impl("nll_loss2d_forward", &nll_loss2d_forward);
  m.impl("nll_loss2d_forward.output", &nll_loss2d_forward_out);
  m.impl("nll_loss2d_backward", &nll_loss2d_backward);
  m.impl("nll_loss2d_backward.grad_input", &nll_loss2d_backward_out);
}

}  // namespace vcuda::aten
