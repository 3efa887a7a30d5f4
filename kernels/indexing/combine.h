// How two elements of any arithmetic type become one, as index_add, scatter and their relatives reduce. For device
// code.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/indexing/element.h"
#include "kernels/indexing/gather_scatter.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {

// Integers combine in their own type, so that they wrap as they do on a GPU; the 16-bit floats combine as floats.
template <typename T>
__device__ T combined(T a, T b, Reduction reduction) {
  if constexpr (std::is_same_v<T, bool>) {
    return reduction == Reduction::add || reduction == Reduction::maximum ? a || b : a && b;
  } else if constexpr (std::is_integral_v<T>) {
    using Wide = std::make_unsigned_t<T>;
    if (reduction == Reduction::add) return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<Wide>(b));
    if (reduction == Reduction::multiply) return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<Wide>(b));
    if (reduction == Reduction::maximum) return a < b ? b : a;
    return b < a ? b : a;
  } else {
    const auto x = vcuda::to_float(a);
    const auto y = vcuda::to_float(b);
    if (reduction == Reduction::add) return vcuda::from_float<T>(x + y);
    if (reduction == Reduction::multiply) return vcuda::from_float<T>(x * y);
    if (x != x) return a;  // a NaN stays
    if (y != y) return b;
    if (reduction == Reduction::maximum) return x < y ? b : a;
    return y < x ? b : a;
  }
}

// Calls `launch(Element<...>)` for the type that `dtype` names.
template <typename Launch>
void with_arithmetic(vcuda::DType dtype, const Launch& launch) {
  switch (dtype) {
    case vcuda::DType::f16: return launch(Element<vcuda::Half>{});
    case vcuda::DType::bf16: return launch(Element<vcuda::BFloat16>{});
    case vcuda::DType::f32: return launch(Element<float>{});
    case vcuda::DType::f64: return launch(Element<double>{});
    case vcuda::DType::u8: return launch(Element<std::uint8_t>{});
    case vcuda::DType::i8: return launch(Element<std::int8_t>{});
    case vcuda::DType::i16: return launch(Element<std::int16_t>{});
    case vcuda::DType::i32: return launch(Element<std::int32_t>{});
    case vcuda::DType::i64: return launch(Element<std::int64_t>{});
    case vcuda::DType::boolean: return launch(Element<bool>{});
  }
}

}  // namespace kernels
