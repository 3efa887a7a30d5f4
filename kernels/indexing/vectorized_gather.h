// Copies whole rows by index, 16 bytes a thread: vectorized_gather_kernel of ATen's IndexKernelUtils.cu, which
// indexing, gather and index_select share. An index outside [0, source_rows) fails an assert; with allow_negative,
// source_rows is added to a negative one first.
//
// Asynchronous: failures surface as runtime.h says. Requires: pointers, strides and row_bytes are multiples of 16.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

constexpr std::int64_t kVectorBytes = 16;

struct VectorizedGather {
  void* out = nullptr;
  const void* source = nullptr;
  const void* indices = nullptr;  // [count], contiguous; int64 if wide_indices, else int32
  bool wide_indices = true;
  bool allow_negative = false;
  std::int64_t count = 0;
  std::int64_t row_bytes = 0;
  std::int64_t source_rows = 0;
  std::int64_t out_stride = 0, source_stride = 0;  // between rows, in bytes
};
void vectorized_gather(const VectorizedGather& args, vcuda::Stream stream);

}  // namespace kernels
