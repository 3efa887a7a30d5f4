// The invariants of compressed sparse tensors (CSR, CSC, BSR, BSC): the kernels of ATen's
// ValidateCompressedIndicesCommon.h. Every broken one stops the device at the same line with the same text; only the
// CPU names it. Indices are contiguous, int32 or int64.
//
// Asynchronous: failures surface as runtime.h says.
#pragma once

#include <cstdint>

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct CompressedIndices {
  const void* compressed = nullptr;  // [batches, compressed_size + 1]
  const void* plain = nullptr;       // [batches, count]
  bool wide = true;                  // int64, else int32
  std::int64_t batches = 0;
  std::int64_t compressed_size = 0;  // rows of CSR
  std::int64_t plain_size = 0;       // columns of CSR
  std::int64_t count = 0;            // elements of a batch
};

// All `elements` plain indices lie in [0, plain_size). Requires: elements > 0.
void check_plain_indices(const CompressedIndices& args, std::int64_t elements, vcuda::Stream stream);

// Compressed indices begin with 0, end with `count` and give each slice 0 to plain_size elements; plain indices of a
// slice ascend. Requires: batches > 0, compressed_size > 0; plain indices were checked.
void check_compressed_indices(const CompressedIndices& args, vcuda::Stream stream);

}  // namespace kernels
