// Combines slices of a source into slices of a tensor that indices name: indexFuncSmallIndex (up to 16 indices) and
// indexFuncLargeIndex of ATen's Indexing.cu, behind index_add and index_reduce. An index outside [0, self_size) fails
// an assert; a negative one is a huge unsigned one. The narrow form reads an index as unsigned 32 bits, as CUDA does
// where all tensors are small enough: an index of valid + m * 2^32 passes unseen. Only the narrow form has a small
// kernel.
//
// Asynchronous: failures surface as runtime.h says. Requires: slice_elements > 0 and count > 0.
#pragma once

#include "kernels/indexing/gather_scatter.h"
#include "kernels/vcuda/dtype.h"

namespace kernels {

struct IndexReduce {
  vcuda::DType dtype;
  Reduction reduction = Reduction::add;
  void* self = nullptr;
  const void* source = nullptr;
  const void* index = nullptr;  // int64 if wide_index, else int32
  bool wide_index = true;
  bool narrow = true;
  bool index_major = false;                         // the order in which the large kernel walks the source
  std::int64_t count = 0;                           // of indices
  std::int64_t index_stride = 1;                    // in elements
  std::int64_t self_size = 0;                       // along the indexed dimension
  std::int64_t self_stride = 0, source_stride = 0;  // along it, in bytes
  std::int64_t slice_elements = 0;
  vcuda::Walk<2> slice;  // the other dimensions of self and source
};
void index_reduce(const IndexReduce& args, vcuda::Stream stream);

}  // namespace kernels
