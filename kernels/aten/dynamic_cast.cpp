// See dynamic_cast.h. The operator runs on the meta device to find out what the host would refuse, and the sizes.
#include "kernels/aten/dynamic_cast.h"

#include <ATen/ATen.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TypeProperties.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/aten/registration.h"
#include "kernels/elementwise/dynamic_cast.h"

namespace vcuda::aten {
namespace {

using at::Tensor;

// What c10's table of conversions holds.
bool is_castable(at::ScalarType type) {
  if (at::isBitsType(type) || at::isQIntType(type)) return false;
  switch (type) {
    case at::kFloat4_e2m1fn_x2:
    case at::kUInt1:
    case at::kUInt2:
    case at::kUInt3:
    case at::kUInt4:
    case at::kUInt5:
    case at::kUInt6:
    case at::kUInt7:
    case at::kInt1:
    case at::kInt2:
    case at::kInt3:
    case at::kInt4:
    case at::kInt5:
    case at::kInt6:
    case at::kInt7: return false;
    default: return true;
  }
}

struct Types {
  bool unknown_input = false, unknown_output = false;
  bool inputs_differ = false;
  std::optional<at::ScalarType> input;
  Tensor on_device;  // the first
};

Types types_of(const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
  Types types;
  const auto values = torch::jit::last(stack, schema.arguments().size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].isTensor() || !values[i].toTensor().defined()) continue;
    const Tensor& tensor = values[i].toTensor();
    if (!types.on_device.defined() && tensor.is_privateuseone()) types.on_device = tensor;
    const at::ScalarType type = tensor.scalar_type();
    if (schema.arguments()[i].is_out()) {
      types.unknown_output = types.unknown_output || !is_castable(type);
      continue;
    }
    types.unknown_input = types.unknown_input || !is_castable(type);
    types.inputs_differ = types.inputs_differ || (types.input.has_value() && *types.input != type);
    types.input = type;
  }
  return types;
}

// What an element-wise operator computes in; nothing where LibTorch has no such type and refuses the inputs.
std::optional<at::ScalarType> computed_type(const std::vector<Tensor>& inputs) {
  if (inputs.empty()) return std::nullopt;
  try {
    const at::ScalarType type = at::native::result_type(inputs);
    return type == at::ScalarType::Undefined ? std::nullopt : std::optional(type);
  } catch (const c10::Error&) {
    return std::nullopt;
  }
}

bool is_written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

// The type on the meta device of inputs that no conversion knows. In a process of Python its own meta functions run
// there, which refuse these types although the device's operators take them. Nothing where LibTorch refuses the types
// itself: then they stay as they are, to be refused.
std::optional<at::ScalarType> stand_in_type(const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
  std::vector<Tensor> inputs, written;
  const auto values = torch::jit::last(stack, schema.arguments().size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].isTensor() || !values[i].toTensor().defined()) continue;
    const c10::Argument& argument = schema.arguments()[i];
    if (!argument.is_out()) inputs.push_back(values[i].toTensor());
    if (is_written(argument)) written.push_back(values[i].toTensor());
  }
  const std::optional<at::ScalarType> type = computed_type(inputs);
  const auto takes = [&](const Tensor& result) { return c10::canCast(*type, result.scalar_type()); };
  return type && std::ranges::all_of(written, takes) ? type : std::nullopt;
}

Tensor on_meta(const Tensor& tensor, std::optional<at::ScalarType> stand_in) {
  auto options = tensor.options().device(at::kMeta);
  if (stand_in && !is_castable(tensor.scalar_type())) options = options.dtype(*stand_in);
  return at::empty_strided(tensor.sizes(), tensor.strides(), options);
}

// The results' stand-ins.
torch::jit::Stack run_on_meta(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  torch::jit::Stack meta;
  const std::optional<at::ScalarType> stand_in = stand_in_type(op.schema(), stack);
  const auto values = torch::jit::last(stack, op.schema().arguments().size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const c10::IValue& value = values[i];
    const bool moves = value.isTensor() && value.toTensor().defined() && value.toTensor().is_privateuseone();
    // A result that takes the computed type is represented by one that takes every type.
    const bool is_result = stand_in && op.schema().arguments()[i].is_out();
    meta.push_back(moves ? c10::IValue(on_meta(value.toTensor(), is_result ? at::kComplexDouble : stand_in)) : value);
  }
  op.callBoxed(&meta);
  return meta;
}

}  // namespace

bool ran_unknown_cast(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const Types types = types_of(schema, *stack);
  // One type throughout needs no conversion: then there is no kernel for it, which the CPU says as well.
  const bool fetch = types.unknown_input && types.inputs_differ;
  if (!types.on_device.defined() || types.unknown_input != fetch || !(fetch || types.unknown_output)) return false;
  if (schema.returns().size() != 1) return false;
  const torch::jit::Stack meta = run_on_meta(op, *stack);
  if (!meta[0].isTensor()) return false;
  const Tensor& planned = meta[0].toTensor();

  Tensor result;
  const auto values = torch::jit::last(*stack, schema.arguments().size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& argument = schema.arguments()[i];
    if (is_written(argument)) result = values[i].toTensor();
  }
  if (result.defined()) {
    at::native::resize_output(result, planned.sizes());
  } else {
    result = at::empty(planned.sizes(), planned.options().device(types.on_device.device()));
  }
  if (result.numel() > 0) {
    kernels::fail_to_cast(fetch ? kernels::UnknownCast::fetch : kernels::UnknownCast::store, result.numel(),
                          stream_for(result));
    check_after_launch();
  }
  torch::jit::drop(*stack, schema.arguments().size());
  torch::jit::push(*stack, result);
  return true;
}

}  // namespace vcuda::aten
