// Where the `linear`-th element of a walk lies in each operand. For device code: include after device_language.h.
#pragma once

#include "kernels/vcuda/device_language.h"
#include "kernels/vcuda/dtype.h"

namespace kernels {

template <int N>
struct Offsets {
  std::int64_t bytes[N];
};

template <int N>
__device__ inline Offsets<N> offsets_of(const vcuda::Walk<N>& walk, std::int64_t linear) {
  Offsets<N> out = {};
  for (int dim = 0; dim < walk.dims; ++dim) {
    const std::int64_t size = walk.sizes[dim];
    const std::int64_t coordinate = linear % size;
    linear /= size;
    for (int operand = 0; operand < N; ++operand) out.bytes[operand] += coordinate * walk.strides[operand][dim];
  }
  return out;
}

}  // namespace kernels
