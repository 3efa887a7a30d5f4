// What an element-wise kernel does with a type that its table of conversions lacks: every thread that loads or stores
// an element fails the assert of c10's DynamicCast.h. No element is touched.
//
// Asynchronous: failures surface as runtime.h says. Requires: count > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

enum class UnknownCast : std::uint8_t { fetch, store };

void fail_to_cast(UnknownCast where, std::int64_t count, vcuda::Stream stream);

}  // namespace kernels
