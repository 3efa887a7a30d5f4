// repeat_interleave: index i, repeats[i] times, for all i in order. The kernel of ATen's Repeat.cu. A sum other than
// the given result size fails an assert that also prints both numbers; so does, without words, a negative repeat.
//
// Asynchronous: failures surface as runtime.h says. Requires: count > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct RepeatInterleave {
  bool wide = true;                    // repeats and result are int64, else int32
  const void* repeats = nullptr;       // [count], contiguous
  const std::int64_t* sums = nullptr;  // [count]: the sum of repeats up to and with each
  void* result = nullptr;              // [result_size]
  std::int64_t count = 0, result_size = 0;
};

void repeat_interleave(const RepeatInterleave& args, vcuda::Stream stream);

}  // namespace kernels
