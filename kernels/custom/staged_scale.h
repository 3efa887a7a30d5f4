// y[i] = x[i] * factor in two launches, through a buffer that nobody else writes: the first launch fills it, the second
// reads it. With `all` false the first rounds its number of blocks down, so the last elements of the buffer are read as
// they were allocated.
//
// Asynchronous: failures surface as runtime.h says. All pointers are contiguous, n elements. n == 0 launches nothing.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

constexpr std::int64_t kStageBlock = 64;

void scale_in_stages(const float* x, float* buffer, float* y, std::int64_t n, float factor, bool all,
                     vcuda::Stream stream);

}  // namespace kernels
