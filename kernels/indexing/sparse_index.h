// The check behind index_select on a sparse tensor: the functor of index_select_sparse_cuda in ATen's Indexing.cu. An
// index outside [-size, size) fails an assert; a negative one counts from the end.
//
// Asynchronous: failures surface as runtime.h says. Requires: count > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct SparseIndex {
  const std::int64_t* index = nullptr;  // [count], `stride` elements apart
  std::int64_t stride = 1;
  std::int64_t* wrapped = nullptr;  // [count], contiguous: the same without negative ones
  std::int64_t count = 0;
  std::int64_t size = 0;  // of the dimension
};
void wrap_sparse_index(const SparseIndex& args, vcuda::Stream stream);

}  // namespace kernels
