// The sum of each kSumBlock floats, over shared memory. With `guarded` false threads beyond n return before the barrier
// that the others wait at, which CUDA leaves undefined.
//
// Asynchronous: failures surface as runtime.h says. `sums` has ceil(n / kSumBlock) elements. n == 0 launches nothing.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

constexpr int kSumBlock = 32;

void block_sums(const float* x, std::int64_t n, float* sums, bool guarded, vcuda::Stream stream);

}  // namespace kernels
