// Sparse CSR tensors on the virtual device: three dense tensors there, taken apart by LibTorch's own functions, and
// made dense by index_add_, as CUDA does it.
#include <ATen/ATen.h>
#include <ATen/ops/_nnz_native.h>
#include <ATen/ops/col_indices_native.h>
#include <ATen/ops/crow_indices_native.h>
#include <ATen/ops/dense_dim_native.h>
#include <ATen/ops/sparse_dim_native.h>
#include <ATen/ops/values_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "kernels/aten/backend.h"

namespace vcuda::aten {
namespace {

using at::Tensor;

Tensor csr_to_dense(const Tensor& self, std::optional<at::ScalarType> dtype, std::optional<bool>) {
  const c10::DeviceGuard guard(self.device());
  check_pending();
  TORCH_CHECK_NOT_IMPLEMENTED(self.layout() == at::kSparseCsr && self.dim() == 2,
                              "vcuda makes only two-dimensional CSR tensors dense");
  const Tensor indices = at::_convert_indices_from_csr_to_coo(self.crow_indices(), self.col_indices());
  const Tensor dense = at::zeros({self.numel()}, self.values().options());
  dense.index_add_(0, indices.select(0, 0) * self.size(1) + indices.select(0, 1), self.values());
  const Tensor shaped = dense.view(self.sizes());
  return dtype.has_value() ? shaped.to(*dtype) : shaped;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, SparseCsrPrivateUse1, m) {
  m.impl("crow_indices", &at::native::crow_indices_sparse_csr);
  m.impl("col_indices", &at::native::col_indices_sparse_csr);
  m.impl("values", &at::native::values_sparse_csr);
  m.impl("_nnz", &at::native::_nnz_sparse_csr);
  m.impl("sparse_dim", &at::native::sparse_dim_sparse_csr);
  m.impl("dense_dim", &at::native::dense_dim_sparse_csr);
  m.impl("_to_dense", &csr_to_dense);
}

}  // namespace vcuda::aten
