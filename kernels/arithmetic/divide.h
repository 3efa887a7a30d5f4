// Division by a number that a launch fixes, as ATen's kernels do it: a multiplication, where a division takes several
// times as long. For device code: include after device_language.h.
#pragma once

#include "kernels/vcuda/device_language.h"
#include "kernels/vcuda/dtype.h"

namespace kernels {

// n / divisor.number, rounded down. Requires: n >= 0, divisor.number > 0.
__device__ inline std::int64_t quotient(std::int64_t n, const vcuda::Divisor& divisor) {
  const auto dividend = static_cast<std::uint64_t>(n);
  const std::uint64_t reciprocal = vcuda::argument(divisor.reciprocal);
  // The reciprocal is rounded up, which adds less than dividend / 2^64 to the quotient: below 2^32 that reaches no integer.
  if (reciprocal != 0 && dividend >> 32 == 0) return static_cast<std::int64_t>(__umul64hi(dividend, reciprocal));
  const std::int64_t number = vcuda::argument(divisor.number);
  return number == 1 ? n : n / number;
}

}  // namespace kernels
