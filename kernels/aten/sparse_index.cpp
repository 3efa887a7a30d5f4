// index_select of sparse COO tensors: one kernel checks the indices, as CUDA's does; what is left to do is the CPU's.
#include "kernels/indexing/sparse_index.h"

#include <ATen/ATen.h>
#include <ATen/WrapDimUtils.h>

#include <vector>

#include "kernels/aten/registration.h"

namespace vcuda::aten {
namespace {

using at::Tensor;

Tensor wrapped_index(const Tensor& index, int64_t size) {
  const Tensor wrapped = at::empty(index.sizes(), index.options());
  kernels::SparseIndex args;
  args.index = static_cast<const int64_t*>(index.const_data_ptr());
  args.stride = index.stride(0);
  args.wrapped = static_cast<int64_t*>(wrapped.mutable_data_ptr());
  args.count = index.numel();
  args.size = size;
  kernels::wrap_sparse_index(args, stream_for(index));
  check_after_launch();
  return wrapped;
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  expect_one_device("wrapper_SparseCUDA__index_select", {{self, "self"}, {index, "index"}});
  const c10::DeviceGuard guard(self.device());
  check_pending();
  TORCH_CHECK_INDEX(self.dim() > 0, "index_select() cannot be applied to a 0-dim tensor.");
  TORCH_CHECK_INDEX(index.dim() == 1 && index.scalar_type() == at::kLong && index.layout() == at::kStrided,
                    "index_select() argument index must be 1-D strided (non-sparse) long-tensor.");
  dim = at::maybe_wrap_dim(dim, self.dim());
  const int64_t sparse_dim = self.sparse_dim();
  if (dim >= sparse_dim) {
    std::vector<int64_t> sizes = self.sizes().vec();
    sizes[static_cast<std::size_t>(dim)] = index.numel();
    return at::_sparse_coo_tensor_unsafe(self._indices(), self._values().index_select(dim - sparse_dim + 1, index),
                                         sizes, self.options(), self.is_coalesced());
  }
  const Tensor checked = index.numel() == 0 ? index : wrapped_index(index, self.size(dim));
  return self.cpu().index_select(dim, checked.cpu()).to(self.device());
}

}  // namespace

DSAFUZZ_OPERATORS(sparse, m) { m.impl("index_select", &index_select); }

}  // namespace vcuda::aten
