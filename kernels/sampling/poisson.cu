// The kernel behind poisson.h. Small rates multiply uniform numbers until the product falls below exp(-rate); larger
// ones use Hoermann's transformed rejection (PTRS, 1993), which needs about two uniform numbers whatever the rate;
// where a float could not tell neighbouring counts apart anyway, the normal distribution stands in.
#include "kernels/indexing/offsets.h"
#include "kernels/sampling/poisson.h"
#include "kernels/sampling/random.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr std::int64_t kThreads = 512;
constexpr double kSmallRate = 10;
constexpr double kHugeRate = 1 << 24;
constexpr double kLargestCount = 4294967295.0;  // CUDA counts in 32 bits

__device__ double small_count(double rate, RandomStream& random) {
  const double least = std::exp(-rate);
  double product = next_uniform(random);
  double count = 0;
  while (product > least) {
    product *= next_uniform(random);
    ++count;
  }
  return count;
}

__device__ double large_count(double rate, RandomStream& random) {
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b;
  const double log_inverse_alpha = std::log(1.1239 + 1.1328 / (b - 3.4));
  const double quick = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = next_uniform(random) - 0.5;
    const double v = next_uniform(random);
    const double edge = 0.5 - std::fabs(u);
    if (edge <= 0) continue;
    const double count = std::floor((2 * a / edge + b) * u + rate + 0.43);
    if (edge >= 0.07 && v <= quick) return count;
    if (count < 0 || (edge < 0.013 && v > edge)) continue;
    const double bound = count * log_rate - rate - std::lgamma(count + 1);
    if (std::log(v) + log_inverse_alpha - std::log(a / (edge * edge) + b) <= bound) return count;
  }
}

__device__ double sample(double rate, RandomStream& random) {
  if (rate < kSmallRate) return small_count(rate, random);
  if (rate < kHugeRate) return large_count(rate, random);
  const double count = std::floor(rate + std::sqrt(rate) * next_normal(random) + 0.5);
  return count < kLargestCount ? count : kLargestCount;
}

template <typename T>
__global__ void kernelPointwiseApply2(KERNEL_STRUCT(Poisson) args) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i < args.count; i += step) {
    const Offsets<2> at = offsets_of(args.walk, i);
    const double lambda =
        vcuda::to_float(*reinterpret_cast<const T*>(static_cast<const char*>(args.rates) + at.bytes[1]));
    DEVICE_ASSERT("aten/src/ATen/native/cuda/Distributions.cu", 50, "operator()",
                  "lambda >= 0 && \"invalid Poisson rate, expected rate to be non-negative\"", lambda >= 0);
    // An infinite rate has no normal distribution around it.
    RandomStream random = stream_of(args.seed, static_cast<std::uint64_t>(i));
    const double count = lambda > kLargestCount * 2 ? kLargestCount : sample(lambda, random);
    *reinterpret_cast<T*>(static_cast<char*>(args.out) + at.bytes[0]) = vcuda::from_float<T>(count);
  }
}

template <typename T>
void launch_poisson(const Poisson& arguments, vcuda::Stream stream) {
  const unsigned grid = static_cast<unsigned>((arguments.count + kThreads - 1) / kThreads);
  const Poisson args = arguments;
  LAUNCH((kernelPointwiseApply2<T>), grid, kThreads, stream, args);
}

}  // namespace

void poisson(const Poisson& args, vcuda::Stream stream) {
  if (args.dtype == vcuda::DType::f16) launch_poisson<vcuda::Half>(args, stream);
  if (args.dtype == vcuda::DType::bf16) launch_poisson<vcuda::BFloat16>(args, stream);
  if (args.dtype == vcuda::DType::f32) launch_poisson<float>(args, stream);
  if (args.dtype == vcuda::DType::f64) launch_poisson<double>(args, stream);
}

}  // namespace kernels
