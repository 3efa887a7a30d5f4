// Convolutions, on the CPU: LibTorch asks a backend for these two by name and does not fall back by itself.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "kernels/aten/registration.h"

namespace vcuda::aten {
namespace {

using at::IntArrayRef;
using at::Tensor;

Tensor on_host(const Tensor& tensor) { return tensor.defined() ? tensor.cpu() : tensor; }

Tensor convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, IntArrayRef stride,
                   IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                   int64_t groups) {
  const Tensor added = bias.value_or(Tensor());
  expect_one_device("wrapper_CUDA_convolution_overrideable", {{input, "input"}, {weight, "weight"}, {added, "bias"}});
  check_pending();
  const std::optional<Tensor> host_bias = added.defined() ? std::optional(added.cpu()) : std::nullopt;
  return at::convolution(input.cpu(), weight.cpu(), host_bias, stride, padding, dilation, transposed, output_padding,
                         groups)
      .to(input.device());
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& gradient, const Tensor& input,
                                                        const Tensor& weight, IntArrayRef stride, IntArrayRef padding,
                                                        IntArrayRef dilation, bool transposed,
                                                        IntArrayRef output_padding, int64_t groups,
                                                        std::array<bool, 3> mask) {
  check_pending();
  // The bias has one element for each output channel.
  const int64_t channels = transposed ? weight.size(1) * groups : weight.size(0);
  auto [for_input, for_weight, for_bias] =
      at::convolution_backward(on_host(gradient), on_host(input), on_host(weight), IntArrayRef(channels), stride,
                               padding, dilation, transposed, output_padding, groups, mask);
  const auto back = [&](const Tensor& t) { return t.defined() ? t.to(input.device()) : t; };
  return {back(for_input), back(for_weight), back(for_bias)};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("convolution_overrideable", &convolution);
  m.impl("convolution_backward_overrideable", &convolution_backward);
}

}  // namespace vcuda::aten
