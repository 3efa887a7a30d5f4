// Row indices of a sparse matrix to row starts and back: the kernels of ATen's SparseCsrTensor.cu. They check no index:
// one outside [0, rows) is written beside the row starts, which is a memory fault outside the allocation, as on CUDA.
// All tensors are contiguous, int32 or int64.
//
// Asynchronous: failures surface as runtime.h says.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct IndexTypes {
  bool wide_in = true, wide_out = true;  // int64, else int32
};

// in: [count] sorted row indices. out: [rows + 1]. Requires: count > 0.
void rows_to_starts(IndexTypes types, const void* in, std::int64_t count, std::int64_t rows, void* out,
                    vcuda::Stream stream);

// in: [batches, rows + 1] row starts. out: [batches, count]. Requires: rows > 0, batches > 0.
void starts_to_rows(IndexTypes types, const void* in, std::int64_t batches, std::int64_t rows, std::int64_t count,
                    void* out, vcuda::Stream stream);

}  // namespace kernels
