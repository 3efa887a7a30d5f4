// Division of integers, element by element, in the four forms of ATen's operators. A GPU has no trap for a zero divisor
// and its kernels do not check: some value comes out, where the CPU raises. Here the quotient is then that of a
// division routine that subtracts for ever, all bits one (negated for a negative dividend), and the remainder is the
// dividend.
//
// Asynchronous: failures surface as runtime.h says. Requires: count > 0.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

enum class Division : std::uint8_t {
  trunc,      // the quotient, rounded towards zero
  floor,      // the quotient, rounded down
  fmod,       // the remainder of trunc: the dividend's sign
  remainder,  // the remainder of floor: the divisor's sign
};

struct IntegerDivision {
  vcuda::DType dtype;  // of all operands: u8, i8, i16, i32 or i64
  Division division;
  std::int64_t count = 0;
  void* out = nullptr;
  const void* dividend = nullptr;
  const void* divisor = nullptr;
  vcuda::Walk<3> walk;  // out, dividend, divisor
};
void integer_division(const IntegerDivision& args, vcuda::Stream stream);

}  // namespace kernels
