// Picks up to 16 slices of a tensor along one dimension: indexSelectSmallIndex of ATen's Indexing.cu. (Longer lists of
// indices go to gather.) An index outside [0, source_size) fails an assert; a negative one is a huge unsigned one.
// The narrow form reads an index as unsigned 32 bits, as CUDA does where all tensors are small enough: an index of
// valid + m * 2^32 passes unseen.
//
// Asynchronous: failures surface as runtime.h says. Requires: slice_elements > 0 and count > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct IndexSelect {
  int element_bytes = 4;
  void* out = nullptr;
  const void* source = nullptr;
  const void* indices = nullptr;  // int64 if wide_indices, else int32
  bool wide_indices = true;
  bool narrow = true;
  std::int64_t count = 0;                          // of indices
  std::int64_t index_stride = 1;                   // in elements
  std::int64_t source_size = 0;                    // along the selected dimension
  std::int64_t out_stride = 0, source_stride = 0;  // along it, in bytes
  std::int64_t slice_elements = 0;
  vcuda::Walk<2> slice;  // the other dimensions of out and source
};
void index_select_small(const IndexSelect& args, vcuda::Stream stream);

}  // namespace kernels
