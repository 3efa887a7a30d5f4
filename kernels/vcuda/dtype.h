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

// A number that a launch fixes and its threads divide by: see divide.h. A number of 0 divides nothing.
struct Divisor {
  std::int64_t number = 1;
  std::uint64_t reciprocal = 0;  // 2^64 / number, rounded up; 0 where that is not in 64 bits

  Divisor() = default;
  Divisor(std::int64_t n) : number(n), reciprocal(n > 1 ? ~std::uint64_t{0} / static_cast<std::uint64_t>(n) + 1 : 0) {}
};

// `N` operands walked together in one order: dimension 0 moves fastest; strides are in bytes and may be zero.
constexpr int kMaxDims = 16;
template <int N>
struct Walk {
  int dims = 0;
  Divisor sizes[kMaxDims] = {};
  std::int64_t strides[N][kMaxDims] = {};
};

}  // namespace vcuda
