// Writes whole slices of a tensor along one dimension, named by a list of indices: index_fill and index_copy of ATen's
// IndexKernel.cu. An index outside the dimension fails an assert; a negative one counts from the end in index_fill and
// is out of bounds in index_copy.
//
// Asynchronous: failures surface as runtime.h says. Requires: count > 0.
#pragma once

#include "kernels/indexing/gather_scatter.h"
#include "kernels/vcuda/dtype.h"

namespace kernels {

struct IndexSlices {
  int element_bytes = 4;
  void* self = nullptr;
  const void* index = nullptr;   // int64
  const void* source = nullptr;  // index_copy only
  std::int64_t count = 0;        // of elements to write
  std::int64_t size = 0;         // of the indexed dimension of self
  std::int64_t stride = 0;       // along it, in bytes
  vcuda::Walk<3> walk;           // self (stride zero along the indexed dimension), index, source
};
void index_fill(const IndexSlices& args, Value value, vcuda::Stream stream);
// Slices that are named more than once get any one of their sources.
void index_copy(const IndexSlices& args, vcuda::Stream stream);

}  // namespace kernels
