// The sum of n floats, each added by a thread of its own: with atomicAdd, and with the plain `+=` that loses what
// another thread adds at the same moment. Nothing asserts, and the sum is often right: only a race checker tells.
//
// Asynchronous: failures surface as runtime.h says. `sum` is one float, zeroed. n == 0 launches nothing.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

void sum_atomically(const float* x, std::int64_t n, float* sum, vcuda::Stream stream);
void sum_without_atomics(const float* x, std::int64_t n, float* sum, vcuda::Stream stream);

}  // namespace kernels
