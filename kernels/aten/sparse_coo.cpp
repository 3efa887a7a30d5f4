// Sparse COO tensors on the virtual device: two dense tensors there, made, taken apart and copied by LibTorch's own
// functions. What has no kernel of ours (sparse_index.cpp, sparse_to_dense.cpp) runs on the CPU.
#include <ATen/ATen.h>
#include <ATen/core/stack.h>
#include <ATen/ops/_coalesced_native.h>
#include <ATen/ops/_indices_native.h>
#include <ATen/ops/_nnz_native.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_and_tensors_native.h>
#include <ATen/ops/_sparse_coo_tensor_with_dims_native.h>
#include <ATen/ops/_values_native.h>
#include <ATen/ops/clone_native.h>
#include <ATen/ops/copy_native.h>
#include <ATen/ops/copy_sparse_to_sparse_native.h>
#include <ATen/ops/dense_dim_native.h>
#include <ATen/ops/empty_native.h>
#include <ATen/ops/indices_native.h>
#include <ATen/ops/is_coalesced_native.h>
#include <ATen/ops/sparse_dim_native.h>
#include <ATen/ops/values_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include <optional>
#include <vector>

#include "kernels/aten/backend.h"

namespace vcuda::aten {
namespace {

using at::Tensor;

c10::IValue moved(const c10::IValue& value, at::Device device) {
  if (value.isTensor() && value.toTensor().defined()) return value.toTensor().to(device);
  if (!value.isTensorList()) return value;
  c10::List<Tensor> out;
  for (const Tensor& tensor : value.toTensorList()) out.push_back(tensor.defined() ? tensor.to(device) : tensor);
  return out;
}

// The fallback of dense tensors calls the CPU's dense kernels by name; sparse ones must be dispatched anew.
void sparse_fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  check_pending();
  const std::size_t inputs = op.schema().arguments().size();
  const auto given = torch::jit::pop(*stack, inputs);
  std::optional<at::Device> device;
  for (const c10::IValue& value : given) {
    const bool here = value.isTensor() && value.toTensor().defined() && value.toTensor().is_privateuseone();
    if (here && !device.has_value()) device = value.toTensor().device();
  }
  const c10::OptionalDeviceGuard guard(device);
  std::vector<c10::IValue> on_cpu;
  for (const c10::IValue& value : given) on_cpu.push_back(moved(value, at::kCPU));
  stack->insert(stack->end(), on_cpu.begin(), on_cpu.end());
  op.callBoxed(*stack);
  const auto results = torch::jit::pop(*stack, op.schema().returns().size());
  for (std::size_t i = 0; i < inputs; ++i) {
    const c10::AliasInfo* alias = op.schema().arguments()[i].alias_info();
    if (alias != nullptr && alias->isWrite() && given[i].isTensor()) given[i].toTensor().copy_(on_cpu[i].toTensor());
  }
  for (const c10::IValue& result : results) {
    // An in-place operator returns what it was given.
    std::size_t same = inputs;
    for (std::size_t i = 0; i < inputs && result.isTensor(); ++i) {
      if (on_cpu[i].isTensor() && on_cpu[i].toTensor().is_same(result.toTensor())) same = i;
    }
    stack->push_back(same < inputs ? given[same] : moved(result, device.value_or(at::kCPU)));
  }
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, SparsePrivateUse1, m) {
  m.impl("empty.memory_format", &at::native::empty_sparse);
  m.impl("_sparse_coo_tensor_with_dims", &at::native::new_with_dims_sparse);
  m.impl("_sparse_coo_tensor_with_dims_and_tensors", &at::native::new_with_dims_and_tensor_sparse_symint);
  m.impl("sparse_dim", &at::native::sparse_dim_sparse);
  m.impl("dense_dim", &at::native::dense_dim_sparse);
  m.impl("_nnz", &at::native::_nnz_sparse);
  m.impl("is_coalesced", &at::native::is_coalesced_sparse);
  m.impl("_coalesced_", &at::native::_coalesced_sparse_);
  m.impl("_indices", &at::native::_indices_sparse);
  m.impl("_values", &at::native::_values_sparse);
  m.impl("indices", &at::native::indices_sparse);
  m.impl("values", &at::native::values_sparse);
  m.impl("clone", &at::native::clone_sparse);
  m.impl("copy_", &at::native::copy_sparse_wrapper_);
  m.impl("copy_sparse_to_sparse_", &at::native::copy_sparse_);
}

TORCH_LIBRARY_IMPL(_, SparsePrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&sparse_fallback>());
}

}  // namespace vcuda::aten
