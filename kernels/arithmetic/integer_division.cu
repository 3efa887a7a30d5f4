// The kernel behind integer_division.h. Magnitudes are divided without a sign, so that neither a zero divisor nor the
// least number divided by -1 meets the host's trapping instruction.
#include <type_traits>

#include "kernels/arithmetic/integer_division.h"
#include "kernels/indexing/offsets.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr int kThreads = 128;
constexpr int kPerThread = 4;

template <typename T>
__device__ T divided(T a, T b, Division division) {
  using U = std::make_unsigned_t<T>;
  const bool a_negative = a < 0, b_negative = b < 0;
  const U dividend = static_cast<U>(a_negative ? U(0) - static_cast<U>(a) : static_cast<U>(a));
  const U divisor = static_cast<U>(b_negative ? U(0) - static_cast<U>(b) : static_cast<U>(b));
  const U quotient = static_cast<U>(divisor == 0 ? ~U(0) : dividend / divisor);
  const U rest = static_cast<U>(divisor == 0 ? dividend : dividend % divisor);
  const T trunc = static_cast<T>(a_negative != b_negative ? U(0) - quotient : quotient);
  const T fmod = static_cast<T>(a_negative ? U(0) - rest : rest);
  const bool lowers = rest != 0 && a_negative != b_negative;
  switch (division) {
    case Division::trunc: return trunc;
    case Division::floor: return lowers ? static_cast<T>(static_cast<U>(trunc) - U(1)) : trunc;
    case Division::fmod: return fmod;
    case Division::remainder: return lowers ? static_cast<T>(static_cast<U>(fmod) + static_cast<U>(b)) : fmod;
  }
  return trunc;
}

template <typename T>
__global__ void integer_division_kernel(KERNEL_STRUCT(IntegerDivision) args) {
  std::int64_t i = static_cast<std::int64_t>(kThreads) * kPerThread * blockIdx.x + threadIdx.x;
  for (int n = 0; n < kPerThread && i < args.count; ++n, i += kThreads) {
    const Offsets<3> at = offsets_of(args.walk, i);
    const T a = *reinterpret_cast<const T*>(static_cast<const char*>(args.dividend) + at.bytes[1]);
    const T b = *reinterpret_cast<const T*>(static_cast<const char*>(args.divisor) + at.bytes[2]);
    *reinterpret_cast<T*>(static_cast<char*>(args.out) + at.bytes[0]) = divided<T>(a, b, args.division);
  }
}

template <typename T>
void launch_division(const IntegerDivision& arguments, vcuda::Stream stream) {
  constexpr std::int64_t kPerBlock = kThreads * kPerThread;
  const unsigned grid = static_cast<unsigned>((arguments.count + kPerBlock - 1) / kPerBlock);
  const IntegerDivision args = arguments;
  LAUNCH((integer_division_kernel<T>), grid, kThreads, stream, args);
}

}  // namespace

void integer_division(const IntegerDivision& args, vcuda::Stream stream) {
  if (args.dtype == vcuda::DType::u8) launch_division<std::uint8_t>(args, stream);
  if (args.dtype == vcuda::DType::i8) launch_division<std::int8_t>(args, stream);
  if (args.dtype == vcuda::DType::i16) launch_division<std::int16_t>(args, stream);
  if (args.dtype == vcuda::DType::i32) launch_division<std::int32_t>(args, stream);
  if (args.dtype == vcuda::DType::i64) launch_division<std::int64_t>(args, stream);
}

}  // namespace kernels
