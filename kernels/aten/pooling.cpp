// Unpooling and the gradients of maximum pools, on the virtual device: the operators whose indices come from the
// caller.
#include <ATen/ATen.h>
#include <ATen/TensorUtils.h>
#include <ATen/native/Pool.h>
#include <ATen/ops/adaptive_max_pool2d_backward_meta.h>
#include <ATen/ops/adaptive_max_pool3d_backward_meta.h>
#include <ATen/ops/fractional_max_pool2d_backward_meta.h>
#include <ATen/ops/max_pool2d_with_indices_backward_meta.h>
#include <torch/library.h>

#include "kernels/aten/registration.h"
#include "kernels/pooling/fractional_max_pool.h"
#include "kernels/pooling/max_pool_backward.h"
#include "kernels/pooling/max_unpool.h"

namespace vcuda::aten {
namespace {

using at::IntArrayRef;
using at::Tensor;

// A tensor that kernels may write contiguously; finish() carries the result to where it belongs.
struct Target {
  // `zeroed`: a kernel adds to it, or writes but a part.
  explicit Target(const Tensor& to, bool zeroed = true)
      : wanted(to), written(to.is_contiguous() ? to : at::empty_like(to, at::MemoryFormat::Contiguous)) {
    if (zeroed) written.zero_();
  }
  void finish() const {
    if (!written.is_same(wanted)) wanted.copy_(written);
  }
  Tensor wanted, written;
};

const int64_t* indices_of(const Tensor& contiguous) {
  expect_type(contiguous, at::kLong);
  return static_cast<const int64_t*>(contiguous.const_data_ptr());
}

// What CUDA unpools: numbers, no truth values and nothing complex.
void expect_number(const Tensor& tensor, const char* kernel) {
  const bool known = at::isIntegralType(tensor.scalar_type(), false) || at::isFloatingType(tensor.scalar_type());
  if (!known || tensor.element_size() > 8) throw_no_kernel(kernel, tensor.scalar_type());
}

void expect_filled(const Tensor& self, const char* name) {
  for (int64_t i = 1; i < self.dim(); ++i) {
    TORCH_CHECK(self.size(i) > 0, name, "Expected input to have non-zero size for non-batch dimensions, but got ",
                self.sizes(), " with dimension ", i, " being empty.");
  }
}

void check_unpool2d(const Tensor& self, const Tensor& indices, IntArrayRef output_size, const Tensor& output) {
  TORCH_CHECK(output.is_contiguous(), "output must be contiguous");
  TORCH_CHECK(indices.scalar_type() == at::kLong,
              "elements in indices should be type int64 but got type: ", indices.scalar_type());
  expect_filled(self, "max_unpooling2d_forward_out_cuda(): ");
  TORCH_CHECK(self.dim() == 3 || self.dim() == 4,
              "Input to max_unpooling2d should be a 3d or 4d Tensor, but got tensor with dimension: ", self.dim());
  TORCH_CHECK(self.sizes() == indices.sizes(), "Expected shape of indices to be: ", self.sizes(),
              " but got: ", indices.sizes());
  TORCH_CHECK(output_size.size() == 2, "There should be exactly two elements (height, width) in output_size, but got ",
              output_size.size(), " elements.");
}

void check_unpool3d(const Tensor& self, const Tensor& indices, IntArrayRef output_size, IntArrayRef stride,
                    IntArrayRef padding, const Tensor& output) {
  TORCH_CHECK(output.is_contiguous(), "output must be contiguous");
  TORCH_CHECK(indices.scalar_type() == at::kLong,
              "elements in indices should be type int64 but got: ", indices.scalar_type());
  TORCH_CHECK(self.dim() == 4 || self.dim() == 5,
              "Input to max_unpooling3d should be a 4d or 5d Tensor, but got a tensor with dim ", self.dim());
  TORCH_CHECK(output_size.size() == 3,
              "There should be exactly three elements (depth, height, width) in output_size, but got ",
              output_size.size(), " elements.");
  TORCH_CHECK(stride.size() == 3,
              "There should be exactly three elements (depth, height, width) in stride, but got: ", stride.size(),
              " elements.");
  TORCH_CHECK(padding.size() == 3,
              "There should be exactly three elements (depth, height, width) in padding, but got: ", padding.size(),
              " elements.");
  TORCH_CHECK(self.sizes() == indices.sizes(), "Expected shape of indices to be: ", self.sizes(),
              " but got: ", indices.sizes());
  expect_filled(self, "max_unpooling3d_forward_out_cuda(): ");
  TORCH_CHECK(stride[0] > 0 && stride[1] > 0 && stride[2] > 0,
              "strides should be greater than zero, but got stride: ", stride);
}

using Unpool = void (*)(const kernels::MaxUnpool&, Stream);

// The last dimensions of `self`, as many as `output_size` has, become those.
void unpool(const Tensor& self, const Tensor& indices, IntArrayRef output_size, Tensor& output, const char* kernel,
            Unpool launch) {
  const auto spatial = static_cast<int64_t>(output_size.size());
  std::vector<int64_t> sizes = self.sizes().vec();
  std::copy(output_size.begin(), output_size.end(), sizes.end() - spatial);
  output.resize_(sizes);
  output.zero_();
  if (self.numel() == 0) return;
  expect_number(self, kernel);
  const Tensor input = self.contiguous();
  const Tensor where = indices.contiguous();
  kernels::MaxUnpool args;
  args.element_bytes = static_cast<int>(input.element_size());
  args.input = input.const_data_ptr();
  args.indices = indices_of(where);
  args.output = output.mutable_data_ptr();
  args.time = spatial == 3 ? input.size(-3) : 1;
  args.height = input.size(-2);
  args.width = input.size(-1);
  args.planes = input.numel() / (args.time * args.height * args.width);
  args.out_size = c10::multiply_integers(output_size);
  launch(args, stream_for(self));
  check_after_launch();
}

Tensor& max_unpool2d_out(const Tensor& self, const Tensor& indices, IntArrayRef output_size, Tensor& output) {
  expect_one_device("wrapper_CUDA__max_unpool2d", {{self, "self"}, {indices, "indices"}});
  const c10::DeviceGuard guard(self.device());
  check_unpool2d(self, indices, output_size, output);
  check_pending();
  unpool(self, indices, output_size, output, "max_unpooling2d_forward_kernel", &kernels::max_unpool2d);
  return output;
}

Tensor max_unpool2d(const Tensor& self, const Tensor& indices, IntArrayRef output_size) {
  Tensor output = at::empty({0}, self.options());
  return max_unpool2d_out(self, indices, output_size, output);
}

Tensor& max_unpool3d_out(const Tensor& self, const Tensor& indices, IntArrayRef output_size, IntArrayRef stride,
                         IntArrayRef padding, Tensor& output) {
  expect_one_device("wrapper_CUDA__max_unpool3d", {{self, "self"}, {indices, "indices"}});
  const c10::DeviceGuard guard(self.device());
  check_unpool3d(self, indices, output_size, stride, padding, output);
  check_pending();
  unpool(self, indices, output_size, output, "max_unpooling3d_forward_kernel", &kernels::max_unpool3d);
  return output;
}

Tensor max_unpool3d(const Tensor& self, const Tensor& indices, IntArrayRef output_size, IntArrayRef stride,
                    IntArrayRef padding) {
  Tensor output = at::empty({0}, self.options());
  return max_unpool3d_out(self, indices, output_size, stride, padding, output);
}

kernels::FractionalMaxPoolBackward fractional_of(const Tensor& grad, const Tensor& indices, const Tensor& grad_input,
                                                 int spatial, const char* kernel) {
  kernels::FractionalMaxPoolBackward args;
  TORCH_CHECK(indices.dim() == grad_input.dim(), "TensorAccessor expected ", grad_input.dim(), " dims but tensor has ",
              indices.dim());
  args.dtype = floating_dtype(grad.scalar_type(), kernel);
  expect_type(grad_input, grad.scalar_type());
  args.grad_output = grad.const_data_ptr();
  args.indices = indices_of(indices);
  args.grad_input = grad_input.mutable_data_ptr();
  args.batch = grad_input.dim() == spatial + 2 ? grad_input.size(0) : 1;
  args.planes = grad_input.size(-spatial - 1);
  args.time = spatial == 3 ? grad_input.size(-3) : 1;
  args.height = grad_input.size(-2);
  args.width = grad_input.size(-1);
  args.outputs = (spatial == 3 ? grad.size(-3) : 1) * grad.size(-2) * grad.size(-1);
  return args;
}

Tensor& fractional_max_pool2d_backward_out(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size,
                                           IntArrayRef output_size, const Tensor& indices, Tensor& grad_input) {
  expect_one_device("wrapper_CUDA_fractional_max_pool2d_backward",
                    {{grad_output, "grad_output"}, {self, "self"}, {indices, "indices"}});
  const c10::DeviceGuard guard(self.device());
  Outputs<at::meta::structured_fractional_max_pool2d_backward> op(grad_input);
  op.meta(grad_output, self, kernel_size, output_size, indices);
  check_pending();
  if (grad_input.numel() == 0) return grad_input;
  const Tensor grad = grad_output.contiguous();
  const Tensor where = indices.contiguous();
  const Target target(grad_input);
  kernels::fractional_max_pool2d_backward(
      fractional_of(grad, where, target.written, 2, "fractional_max_pool2d_backward_out_cuda_frame"), stream_for(self));
  check_after_launch();
  target.finish();
  return grad_input;
}

Tensor& fractional_max_pool3d_backward_out(const Tensor& grad_output, const Tensor& self, IntArrayRef,
                                           IntArrayRef output_size, const Tensor& indices, Tensor& grad_input) {
  expect_one_device("wrapper_CUDA__fractional_max_pool3d_backward",
                    {{grad_output, "grad_output"}, {self, "self"}, {indices, "indices"}});
  const c10::DeviceGuard guard(self.device());
  constexpr std::array kNames = {"time", "height", "width"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    TORCH_CHECK(output_size[i] == grad_output.size(static_cast<int64_t>(i) - 3),
                "fractional_max_pool3d_backward_out_cuda_template(): gradOutput ", kNames[i], " unexpected");
  }
  check_pending();
  grad_input.resize_(self.sizes());
  if (grad_input.numel() == 0) return grad_input;
  const Tensor grad = grad_output.contiguous();
  const Tensor where = indices.contiguous();
  const Target target(grad_input);
  kernels::fractional_max_pool3d_backward(
      fractional_of(grad, where, target.written, 3, "fractional_max_pool3d_backward_out_frame"), stream_for(self));
  check_after_launch();
  target.finish();
  return grad_input;
}

Tensor fractional_max_pool3d_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel_size,
                                      IntArrayRef output_size, const Tensor& indices) {
  Tensor grad_input = at::empty({0}, self.options());
  return fractional_max_pool3d_backward_out(grad_output, self, kernel_size, output_size, indices, grad_input);
}

kernels::MaxPoolBackward pool_of(const Tensor& grad, const Tensor& indices, const Tensor& grad_input, int spatial,
                                 const char* kernel) {
  kernels::MaxPoolBackward args;
  args.dtype = floating_dtype(grad_input.scalar_type(), kernel);
  expect_type(grad, grad_input.scalar_type());
  args.grad_output = grad.const_data_ptr();
  args.indices = indices_of(indices);
  args.grad_input = grad_input.mutable_data_ptr();
  const auto size = [](const Tensor& tensor, int64_t dim) { return static_cast<int>(tensor.size(dim)); };
  args.batch = grad_input.dim() == spatial + 2 ? size(grad_input, 0) : 1;
  args.planes = size(grad_input, -spatial - 1);
  args.time = spatial == 3 ? size(grad_input, -3) : 1;
  args.height = size(grad_input, -2);
  args.width = size(grad_input, -1);
  args.out_time = spatial == 3 ? size(grad, -3) : 1;
  args.out_height = size(grad, -2);
  args.out_width = size(grad, -1);
  return args;
}

// A pooling attribute of one value, or one for each dimension; without any, `otherwise`.
int at_dim(IntArrayRef values, std::size_t dim, int otherwise = 0) {
  if (values.empty()) return otherwise;
  return static_cast<int>(values.size() == 1 ? values[0] : values[dim]);
}

kernels::PoolWindow window_of(IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                              std::size_t dim) {
  const int size = at_dim(kernel, dim);
  return {size, at_dim(stride, dim, size), at_dim(padding, dim), at_dim(dilation, dim)};
}

Tensor& max_pool2d_backward_out(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel, IntArrayRef stride,
                                IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, const Tensor& indices,
                                Tensor& grad_input) {
  expect_one_device("wrapper_CUDA_max_pool2d_with_indices_backward",
                    {{grad_output, "grad_output"}, {self, "self"}, {indices, "indices"}});
  const c10::DeviceGuard guard(self.device());
  Outputs<at::meta::structured_max_pool2d_with_indices_backward> op(grad_input);
  op.meta(grad_output, self, kernel, stride, padding, dilation, ceil_mode, indices);
  check_pending();
  const Target target(grad_input, grad_output.numel() == 0);
  if (grad_output.numel() != 0) {
    const Tensor grad = grad_output.contiguous();
    const Tensor where = indices.contiguous();
    kernels::max_pool2d_backward(
        pool_of(grad, where, target.written, 2, "max_pool2d_with_indices_backward_out_cuda_frame"),
        window_of(kernel, stride, padding, dilation, 0), window_of(kernel, stride, padding, dilation, 1),
        stream_for(self));
    check_after_launch();
  }
  target.finish();
  return grad_input;
}

Tensor& max_pool3d_backward_out(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel, IntArrayRef stride,
                                IntArrayRef padding, IntArrayRef dilation, bool, const Tensor& indices,
                                Tensor& grad_input) {
  expect_one_device("wrapper_CUDA__max_pool3d_with_indices_backward",
                    {{grad_output, "grad_output"}, {self, "self"}, {indices, "indices"}});
  const c10::DeviceGuard guard(self.device());
  const auto one_or_three = [](IntArrayRef values) { return values.size() == 1 || values.size() == 3; };
  TORCH_CHECK(one_or_three(kernel), "max_pool3d: kernel_size must either be a single int, or a tuple of three ints");
  TORCH_CHECK(stride.empty() || one_or_three(stride),
              "max_pool3d: stride must either be omitted, a single int, or a tuple of three ints");
  TORCH_CHECK(one_or_three(padding), "max_pool3d: padding must either be a single int, or a tuple of three ints");
  TORCH_CHECK(one_or_three(dilation), "max_pool3d: dilation must be either a single int, or a tuple of three ints");
  TORCH_CHECK(self.dim() == 4 || self.dim() == 5,
              "max_pool2d_with_indices_backward_out_cuda_template(): Expected 4D or 5D input tensor, but got ",
              self.sizes());
  TORCH_CHECK(grad_output.dim() == 4 || grad_output.dim() == 5,
              "max_pool2d_with_indices_backward_out_cuda_template(): Expected 4D or 5D gradOutput tensor, but got ",
              grad_output.sizes());
  check_pending();
  grad_input.resize_(self.sizes());
  const auto window = [&](std::size_t dim) { return window_of(kernel, stride, padding, dilation, dim); };
  const kernels::PoolWindow t = window(0), h = window(1), w = window(2);
  at::native::max_pool3d_backward_shape_check(self, grad_output, indices, self.size(-4), t.kernel, h.kernel, w.kernel,
                                              t.stride, h.stride, w.stride, t.padding, h.padding, w.padding, t.dilation,
                                              h.dilation, w.dilation, self.size(-3), self.size(-2), self.size(-1),
                                              grad_output.size(-3), grad_output.size(-2), grad_output.size(-1),
                                              "max_pool3d_with_indices_backward_out_cuda_template()");
  const Target target(grad_input);
  if (grad_output.numel() != 0) {
    const Tensor grad = grad_output.contiguous();
    const Tensor where = indices.contiguous();
    kernels::max_pool3d_backward(pool_of(grad, where, target.written, 3, "max_pool3d_with_indices_backward_out_frame"),
                                 stream_for(self));
    check_after_launch();
  }
  target.finish();
  return grad_input;
}

Tensor max_pool3d_backward(const Tensor& grad_output, const Tensor& self, IntArrayRef kernel, IntArrayRef stride,
                           IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, const Tensor& indices) {
  Tensor grad_input = at::empty({0}, self.options());
  return max_pool3d_backward_out(grad_output, self, kernel, stride, padding, dilation, ceil_mode, indices, grad_input);
}

template <typename Meta, int kSpatial>
Tensor& adaptive_backward_out(const Tensor& grad_output, const Tensor& self, const Tensor& indices,
                              Tensor& grad_input) {
  constexpr bool kFlat = kSpatial == 2;
  expect_one_device(kFlat ? "wrapper_CUDA_adaptive_max_pool2d_backward" : "wrapper_CUDA_adaptive_max_pool3d_backward",
                    {{grad_output, "grad_output"}, {self, "self"}, {indices, "indices"}});
  const c10::DeviceGuard guard(self.device());
  Outputs<Meta> op(grad_input);
  op.meta(grad_output, self, indices);
  check_pending();
  const Target target(grad_input);
  if (grad_output.numel() != 0 && grad_input.numel() != 0) {
    const Tensor grad = grad_output.contiguous();
    const Tensor where = indices.contiguous();
    const auto args = pool_of(grad, where, target.written, kSpatial,
                              kFlat ? "adaptive_max_pool2d_backward_cuda" : "adaptive_max_pool3d_backward_cuda");
    const auto launch = kFlat ? &kernels::adaptive_max_pool2d_backward : &kernels::adaptive_max_pool3d_backward;
    launch(args, stream_for(self));
    check_after_launch();
  }
  target.finish();
  return grad_input;
}

}  // namespace

// The functional forms of structured operators come with LibTorch: they call these.
DSAFUZZ_OPERATORS(dense, m) {
  m.impl("max_unpool2d", &max_unpool2d);
  m.impl("max_unpool2d.out", &max_unpool2d_out);
  m.impl("max_unpool3d", &max_unpool3d);
  m.impl("max_unpool3d.out", &max_unpool3d_out);
  m.impl("fractional_max_pool2d_backward.grad_input", &fractional_max_pool2d_backward_out);
  m.impl("fractional_max_pool3d_backward", &fractional_max_pool3d_backward);
  m.impl("fractional_max_pool3d_backward.grad_input", &fractional_max_pool3d_backward_out);
  m.impl("max_pool2d_with_indices_backward.grad_input", &max_pool2d_backward_out);
  m.impl("max_pool3d_with_indices_backward", &max_pool3d_backward);
  m.impl("max_pool3d_with_indices_backward.grad_input", &max_pool3d_backward_out);
  m.impl("adaptive_max_pool2d_backward.grad_input",
         &adaptive_backward_out<at::meta::structured_adaptive_max_pool2d_backward, 2>);
  m.impl("adaptive_max_pool3d_backward.grad_input",
         &adaptive_backward_out<at::meta::structured_adaptive_max_pool3d_backward, 3>);
}

}  // namespace vcuda::aten
