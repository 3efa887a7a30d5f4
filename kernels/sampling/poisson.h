// Counts of a Poisson process with a rate for each: the kernel of ATen's poisson. A negative or NaN rate fails an
// assert; an infinite one is accepted, as on CUDA, and gives the largest count there is.
//
// Asynchronous: failures surface as runtime.h says. Requires: count > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct Poisson {
  vcuda::DType dtype;  // of both: f16, bf16, f32 or f64
  void* out = nullptr;
  const void* rates = nullptr;
  std::int64_t count = 0;
  vcuda::Walk<2> walk;  // out, rates
  std::uint64_t seed = 0;
};

void poisson(const Poisson& args, vcuda::Stream stream);

}  // namespace kernels
