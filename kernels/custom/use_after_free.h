// The sum of n floats, in one thread: the reader in the use-after-free scenario. Whether `x` is alive is the caller's
// affair; the operator sum_after_free frees it before the launch, sum_alive after.
//
// Asynchronous: failures surface as runtime.h says. `sum` is one float, and is written even for n == 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

void sum_buffer(const float* x, std::int64_t n, float* sum, vcuda::Stream stream);

}  // namespace kernels
