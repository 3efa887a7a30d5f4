// From the row swaps that an LU factorisation made to the permutation they amount to: the kernel behind lu_unpack in
// ATen's BatchLinearAlgebraKernel.cu. Pivots are not checked, as on a GPU: one outside [1, rows] swaps an element with
// whatever lies there, the next matrix's permutation or memory beyond.
//
// Asynchronous: failures surface as runtime.h says. Requires: batches > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct UnpackPivots {
  const std::int32_t* pivots = nullptr;  // [batches, swaps], contiguous, counted from 1
  std::int64_t* permutations = nullptr;  // [batches, rows], contiguous; each 0, 1, 2, ... before
  std::int64_t batches = 0, swaps = 0, rows = 0;
};
void unpack_pivots(const UnpackPivots& args, vcuda::Stream stream);

}  // namespace kernels
