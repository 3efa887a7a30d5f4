// The addresses and sizes of a grouped matrix product's groups: the kernel of ATen's GroupMMCommon.cuh, of which the
// checks are what counts here. Group ends that fall, pass the tensor's end, or are not aligned to 16 bytes fail
// asserts.
//
// Asynchronous: failures surface as runtime.h says.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

struct GroupedMm {
  const std::int32_t* ends = nullptr;  // [groups]: where each group ends along the dynamic dimension
  std::int32_t groups = 0;             // 1 to 1024
  std::int32_t m = 0, n = 0, k = 0;    // the dynamic dimension is -1
  std::int64_t a_sizes[2] = {};        // the first two sizes of either matrix
  std::int64_t b_sizes[2] = {};
  bool a_row_major = true, b_row_major = true;
  std::int32_t* sizes_out = nullptr;  // [groups, 3]
};

void prepare_grouped_gemm(const GroupedMm& args, vcuda::Stream stream);

}  // namespace kernels
