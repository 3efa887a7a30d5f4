// From tensors to the arguments of the gather and scatter kernels.
#pragma once

#include <ATen/TensorIterator.h>

#include "kernels/aten/registration.h"
#include "kernels/indexing/gather_scatter.h"
#include "kernels/indexing/vectorized_gather.h"

namespace vcuda::aten {

// Whether an iterator over (output, source, index) copies whole rows that a vectorized kernel may move: two dimensions
// left, contiguous rows, an index that does not vary within a row, everything a multiple of 16 bytes.
bool copies_rows(const at::TensorIteratorBase& iterator, int64_t source_stride_bytes);
kernels::VectorizedGather rows_of(const at::TensorIteratorBase& iterator, int64_t source_rows,
                                  int64_t source_stride_bytes, bool allow_negative);

// Requires: shapes are checked, `dim` is not negative, index is not empty, the tensors' device is current.
void launch_gather(const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& out);

}  // namespace vcuda::aten
