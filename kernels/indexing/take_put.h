// Elements of a tensor by their position in row-major order: cuda_take_put_kernel of ATen's IndexKernel.cu, behind take
// and put_. A position outside [-numel, numel) fails an assert; negative ones count from the end.
//
// Asynchronous: failures surface as runtime.h says. Requires: count > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct TakePut {
  int element_bytes = 4;
  void* indexed = nullptr;  // the tensor that positions look into; take only reads it
  std::int64_t numel = 0;   // of it
  vcuda::Walk<1> indexed_walk;
  std::int64_t count = 0;       // of positions
  void* iterated = nullptr;     // take: the result; put: the source, only read
  const void* index = nullptr;  // int64
  vcuda::Walk<2> walk;          // iterated, index
};
void take(const TakePut& args, vcuda::Stream stream);
// Elements that are named more than once get any one of their values.
void put(const TakePut& args, vcuda::Stream stream);
// Adds. An element is `components` numbers of type `dtype`: two for complex ones.
void put_accumulate(const TakePut& args, vcuda::DType dtype, int components, vcuda::Stream stream);

}  // namespace kernels
