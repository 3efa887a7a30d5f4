// x[i, j, ...] and x[i, j, ...] = v with index tensors: gpu_index_kernel of ATen's IndexKernel.cu. An index outside
// [-size, size) of its dimension fails an assert; negative ones count from the end.
//
// Asynchronous: failures surface as runtime.h says. Requires: count > 0 and indices >= 1.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

constexpr int kMaxIndices = 16;

struct AdvancedIndex {
  int element_bytes = 4;
  void* out = nullptr;       // for a read: the result; for a write: the indexed tensor
  const void* in = nullptr;  // for a read: the indexed tensor; for a write: the values
  std::int64_t count = 0;    // elements of the result or of the values
  vcuda::Walk<3> walk;       // out, in, index; the indexed tensor has stride zero along indexed dimensions
  int indices = 0;           // index tensors, all int64 and walked alike
  const char* index[kMaxIndices] = {};
  std::int64_t sizes[kMaxIndices] = {};
  std::int64_t strides[kMaxIndices] = {};  // of the indexed tensor, in bytes
};
void index_get(const AdvancedIndex& args, vcuda::Stream stream);
// Elements that are named more than once get any one of their values.
void index_put(const AdvancedIndex& args, vcuda::Stream stream);

}  // namespace kernels
