// The sum of all elements, as losses are reduced with: one block, like ATen's reduce_kernel for a result of one element
// from few. The order of addition is not ATen's.
//
// Asynchronous: failures surface as runtime.h says.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct FullSum {
  vcuda::DType dtype;            // f16, bf16, f32 or f64; 16-bit floats add up as floats
  const void* values = nullptr;  // [count], contiguous
  std::int64_t count = 0;        // at least 0
  bool mean = false;             // divide by count
  void* out = nullptr;           // one element
};
void full_sum(const FullSum& args, vcuda::Stream stream);

}  // namespace kernels
