// y[i] = x[2i] + x[2i+1], each pair read with one 8-byte load, which is what makes such kernels fast, and what needs x
// aligned to 8 bytes. A view may begin at any element: pair_sums looks and reads one by one where it must, the other
// does not look.
//
// Asynchronous: failures surface as runtime.h says. x has 2n elements. n == 0 launches nothing.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

void pair_sums(const float* x, float* y, std::int64_t n, vcuda::Stream stream);
void pair_sums_without_alignment_check(const float* x, float* y, std::int64_t n, vcuda::Stream stream);

}  // namespace kernels
