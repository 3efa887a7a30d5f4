// y[i] = x[i] * factor, twice: as it should be, and with the commonest mistake in a kernel, the missing guard.
// The grid is rounded up to whole blocks, so without the guard threads beyond `n` read and write past both ends
// unless n is a multiple of kScaleBlock. Nothing asserts: only the memory checker, or a crash, tells.
//
// Asynchronous: failures surface as runtime.h says. x and y are contiguous. n == 0 launches nothing.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

constexpr std::int64_t kScaleBlock = 256;

void scale(const float* x, float* y, std::int64_t n, float factor, vcuda::Stream stream);
void scale_without_bounds_check(const float* x, float* y, std::int64_t n, float factor, vcuda::Stream stream);

}  // namespace kernels
