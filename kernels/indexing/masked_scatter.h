// Fills the marked elements of a tensor with the elements of a source, in order: masked_scatter of ATen's
// IndexKernel.cu. More marks than elements in the source fail the assert of masked_scatter_size_check.
//
// Asynchronous: failures surface as runtime.h says. Requires: count > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct MaskedScatter {
  int element_bytes = 4;
  void* self = nullptr;
  const bool* mask = nullptr;       // [count], contiguous
  std::int64_t* ordinal = nullptr;  // [count], contiguous: room for how many marks come before each element
  const void* source = nullptr;     // [source_size], contiguous
  std::int64_t count = 0;
  std::int64_t source_size = 0;
  vcuda::Walk<1> self_walk;  // in row-major order
};
void masked_scatter(const MaskedScatter& args, vcuda::Stream stream);

}  // namespace kernels
