// What the plain C++ interface of a kernel family needs: element types, the stream to launch on, and the shape that
// several strided operands are walked by. Included by launchers' headers, so by files that know nothing of CUDA.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#include "kernels/vcuda/device_language.h"
#else
#include "kernels/vcuda/launch.h"
#endif

namespace vcuda {

enum class DType : std::uint8_t { f16, bf16, f32, f64, u8, i8, i16, i32, i64, boolean };

// `N` operands walked together in one order: dimension 0 moves fastest; strides are in bytes and may be zero.
constexpr int kMaxDims = 16;
template <int N>
struct Walk {
  int dims = 0;
  std::int64_t sizes[kMaxDims] = {};
  std::int64_t strides[N][kMaxDims] = {};
};

}  // namespace vcuda
