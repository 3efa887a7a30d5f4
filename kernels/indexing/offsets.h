// Where the `linear`-th element of a walk lies in each operand. For device code: include after device_language.h.
#pragma once

#include "kernels/arithmetic/divide.h"
#include "kernels/vcuda/device_language.h"
#include "kernels/vcuda/dtype.h"

namespace kernels {

template <int N>
struct Offsets {
  std::int64_t bytes[N];
};

// Requires: 0 <= linear < the product of the sizes.
template <int N>
__device__ inline Offsets<N> offsets_of(const vcuda::Walk<N>& walk, std::int64_t linear) {
  Offsets<N> out = {};
  const int dims = vcuda::argument(walk.dims);
  for (int dim = 0; dim < dims; ++dim) {
    // What is left for the last dimension is its coordinate.
    const std::int64_t rest = dim + 1 < dims ? quotient(linear, walk.sizes[dim]) : 0;
    const std::int64_t coordinate = linear - rest * vcuda::argument(walk.sizes[dim].number);
    linear = rest;
    for (int operand = 0; operand < N; ++operand) {
      out.bytes[operand] += coordinate * vcuda::argument(walk.strides[operand][dim]);
    }
  }
  return out;
}

}  // namespace kernels
