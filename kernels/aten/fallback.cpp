// Operators without a kernel of ours run on the CPU: arguments are copied to the host, results back. Before that come
// the two things a GPU would do first: report an earlier error, and refuse tensors that live on different devices.
#include <ATen/ATen.h>
#include <ATen/core/op_registration/adaption.h>
#include <ATen/native/CPUFallback.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/aten/backend.h"
#include "kernels/aten/dynamic_cast.h"

namespace vcuda::aten {
namespace {

// Lengths of packed sequences stay on the CPU by that operator's contract.
constexpr std::array<std::string_view, 1> kTakesHostTensors = {"aten::_pack_padded_sequence"};

struct Argument {
  at::Tensor tensor;
  const std::string* name;
};

std::vector<Argument> tensors_of(const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
  std::vector<Argument> found;
  const auto values = torch::jit::last(stack, schema.arguments().size());
  const auto add = [&](const at::Tensor& tensor, std::size_t i) {
    if (tensor.defined()) found.push_back({tensor, &schema.arguments()[i].name()});
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].isTensor()) {
      add(values[i].toTensor(), i);
    } else if (values[i].isTensorList()) {
      for (const at::Tensor& tensor : values[i].toTensorList()) add(tensor, i);
    } else if (values[i].isOptionalTensorList()) {
      for (const std::optional<at::Tensor>& tensor : values[i].toOptionalTensorList()) {
        if (tensor.has_value()) add(*tensor, i);
      }
    }
  }
  return found;
}

// Element-wise operators say it in TensorIterator's words, all others in those of the generated wrappers.
void refuse_mixed_devices(const c10::OperatorHandle& op, const std::vector<Argument>& arguments, at::Device common) {
  for (const Argument& argument : arguments) {
    const at::Device device = argument.tensor.device();
    // A CPU tensor without dimensions counts as a number.
    if (device == common || (device.is_cpu() && argument.tensor.dim() == 0)) continue;
    TORCH_CHECK(!op.hasTag(at::Tag::pointwise),
                "Expected all tensors to be on the same device, but found at least two devices, ", common, " and ",
                device, "!");
    const std::string method = "wrapper_CUDA_" + op.schema().name().substr(sizeof("aten::") - 1);
    c10::impl::common_device_check_failure(common, argument.tensor, method.c_str(), argument.name->c_str());
  }
}

}  // namespace

void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  check_pending();
  const std::vector<Argument> arguments = tensors_of(op.schema(), *stack);
  for (const Argument& argument : arguments) {
    if (!argument.tensor.is_privateuseone()) continue;
    const bool mixes =
        std::find(kTakesHostTensors.begin(), kTakesHostTensors.end(), op.schema().name()) != kTakesHostTensors.end();
    if (!mixes) refuse_mixed_devices(op, arguments, argument.tensor.device());
    const c10::DeviceGuard guard(argument.tensor.device());
    if (op.hasTag(at::Tag::pointwise) && ran_unknown_cast(op, stack)) return;
    return at::native::cpu_fallback(op, stack);
  }
  at::native::cpu_fallback(op, stack);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>()); }

}  // namespace vcuda::aten
