// max_unpool2d and max_unpool3d: each value goes to the place in its output plane that the index names. The kernels of
// ATen's MaxUnpooling.cu. An index outside the plane fails an assert; max_unpool2d looks at its lower 32 bits only.
// All tensors are contiguous; the output is zeroed by the caller.
//
// Asynchronous: failures surface as runtime.h says. Requires: no size is zero.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct MaxUnpool {
  int element_bytes = 4;                  // 1, 2, 4 or 8
  const void* input = nullptr;            // [planes, time, height, width]
  const std::int64_t* indices = nullptr;  // as the input
  void* output = nullptr;                 // [planes, out_size]
  std::int64_t planes = 1;
  std::int64_t time = 1, height = 1, width = 1;  // in two dimensions time is 1
  std::int64_t out_size = 1;                     // elements of an output plane
};

void max_unpool2d(const MaxUnpool& args, vcuda::Stream stream);
void max_unpool3d(const MaxUnpool& args, vcuda::Stream stream);

}  // namespace kernels
