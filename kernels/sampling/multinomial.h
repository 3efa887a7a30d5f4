// Categories drawn with replacement: the kernels of ATen's MultinomialKernel.cu. Rows are scaled to a sum of one, then
// summed up by the caller, then each sample is a binary search in those sums. A negative weight fails an assert in the
// first step, a row without positive sum (zeros, NaN, infinity) in the last. All tensors are contiguous.
//
// Asynchronous: failures surface as runtime.h says. Requires: rows > 0, categories > 0, samples > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct Multinomial {
  vcuda::DType dtype;  // of weights and sums: f16, bf16, f32 or f64
  std::int64_t rows = 0, categories = 0;
};

// weights: [rows, categories], in place.
void renorm_rows(const Multinomial& args, void* weights, vcuda::Stream stream);

// sums: the running sums of `weights` along each row. out: [rows, samples].
void sample_with_replacement(const Multinomial& args, const void* weights, const void* sums, std::int64_t samples,
                             std::uint64_t seed, std::int64_t* out, vcuda::Stream stream);

}  // namespace kernels
