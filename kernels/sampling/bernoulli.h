// Zeros and ones with a probability for each: the kernel behind ATen's bernoulli_ with a tensor.
// A probability outside [0, 1], or NaN, fails an assert whose text names the lane: four elements make one thread's
// turn.
//
// Asynchronous: failures surface as runtime.h says. Requires: count > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct Bernoulli {
  vcuda::DType dtype;  // of `out`, any; probabilities are f64 where it is f64, else f32
  void* out = nullptr;
  const void* probabilities = nullptr;
  std::int64_t count = 0;
  vcuda::Walk<2> walk;  // out, probabilities
  std::uint64_t seed = 0;
};

void bernoulli(const Bernoulli& args, vcuda::Stream stream);

}  // namespace kernels
