// Sparse tensors merged and made dense, on the virtual device, from dense steps like those of CUDA: no step checks an
// index against the size of the sparse tensor. On the CPU a wrong index would damage the host's memory.
#include <ATen/ATen.h>

#include "kernels/aten/registration.h"
#include "kernels/sparse/add_elements.h"

namespace vcuda::aten {
namespace {

using at::Tensor;

// The position of each element in a dense tensor's sparse dimensions.
Tensor flattened(const Tensor& indices, at::IntArrayRef sizes) {
  Tensor flat = at::zeros({indices.size(1)}, indices.options());
  for (int64_t dim = 0; dim < indices.size(0); ++dim) {
    flat = flat * sizes[static_cast<std::size_t>(dim)] + indices.select(0, dim);
  }
  return flat;
}

// Elements of one position are added up; positions come back in order. An index that is too large has carried over
// into the dimension before by then.
Tensor coalesce(const Tensor& self) {
  // CUDA's operator refuses this too.
  TORCH_CHECK(!self.is_coalesced(), "_coalesce: the tensor is coalesced already");
  const c10::DeviceGuard guard(self.device());
  check_pending();
  const int64_t dims = self.sparse_dim();
  if (self._nnz() < 2) {
    const Tensor same = self.clone();
    return same._coalesced_(true);
  }
  const Tensor values = self._values();
  auto [positions, place] = at::_unique(flattened(self._indices(), self.sizes()), /*sorted=*/true, /*inverse=*/true);
  std::vector<int64_t> sizes = values.sizes().vec();
  sizes[0] = positions.size(0);
  const Tensor sums = at::zeros(sizes, values.options()).index_add_(0, place, values);
  const Tensor indices = at::empty({dims, positions.size(0)}, positions.options());
  Tensor rest = positions;
  for (int64_t dim = dims - 1; dim >= 0; --dim) {
    const Tensor whole = dim == 0 && dims == 1 ? at::zeros_like(rest) : rest.div(self.size(dim), "trunc");
    indices.select(0, dim).copy_(rest - whole * self.size(dim));
    rest = whole;
  }
  return at::_sparse_coo_tensor_unsafe(indices, sums, self.sizes(), self.options())._coalesced_(true);
}

Tensor coo_to_dense(const Tensor& self, std::optional<at::ScalarType> dtype, std::optional<bool>) {
  const c10::DeviceGuard guard(self.device());
  check_pending();
  Tensor dense = at::zeros(self.sizes(), self.options().layout(at::kStrided));
  const Tensor indices = self._indices().contiguous(), values = self._values().contiguous();
  if (values.numel() > 0 && (self.is_coalesced() || self._nnz() < 2) && self.dense_dim() == 0) {
    kernels::AddElements args;
    args.dtype = floating_dtype(values.scalar_type(), "add_out_dense_sparse_cuda");
    args.dense = dense.mutable_data_ptr();
    args.indices = static_cast<const int64_t*>(indices.const_data_ptr());
    args.values = values.const_data_ptr();
    args.count = values.numel();
    args.dims = static_cast<int>(self.sparse_dim());
    expect_dims(static_cast<std::size_t>(args.dims));
    for (int dim = 0; dim < args.dims; ++dim) args.strides[dim] = dense.stride(dim);
    kernels::add_elements(args, stream_for(dense));
    check_after_launch();
  } else if (values.numel() > 0) {
    const int64_t rows = c10::multiply_integers(self.sizes().slice(0, static_cast<std::size_t>(self.sparse_dim())));
    dense.view({rows, -1}).index_add_(0, flattened(indices, self.sizes()), values.view({self._nnz(), -1}));
  }
  return dtype.has_value() ? dense.to(*dtype) : dense;
}

}  // namespace

DSAFUZZ_OPERATORS(sparse, m) {
  m.impl("_coalesce", &coalesce);
  m.impl("_to_dense", &coo_to_dense);
}

}  // namespace vcuda::aten
