// From tensors to the arguments of the gather and scatter kernels.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/native/ReductionType.h>

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

// A tensor without dimensions counts as a vector of one.
at::Tensor with_dimensions(const at::Tensor& tensor);

// The type of elements that reductions compute with; else throws as AT_DISPATCH does under the name of the kernel.
DType dtype_of(const at::Tensor& tensor, const char* kernel);
kernels::Value value_of(const at::Scalar& scalar, at::ScalarType type);

struct Operation {
  kernels::Reduction reduction;
  at::Scalar neutral;  // what an element holds before the first value, where its old one does not count
};
// A mean begins as a sum.
Operation operation_of(at::native::ReductionType type, at::ScalarType dtype);
// Makes a mean of sums: `count` holds how many values each element is the sum of.
void divide_by_count(const at::Tensor& sums, const at::Tensor& count);

}  // namespace vcuda::aten
