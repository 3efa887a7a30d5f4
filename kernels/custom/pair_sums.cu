// The kernels behind pair_sums.h.
#include "kernels/custom/pair_sums.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr std::int64_t kBlock = 128;

unsigned blocks_of(std::int64_t n) { return static_cast<unsigned>((n + kBlock - 1) / kBlock); }

__device__ float sum_of_halves(std::int64_t pair) {
  const auto bits = static_cast<std::uint64_t>(pair);
  const std::uint32_t words[2] = {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  float low, high;
  memcpy(&low, &words[0], sizeof low);
  memcpy(&high, &words[1], sizeof high);
  return low + high;
}

__global__ void pair_sums_one_by_one_kernel(const float* x, float* y, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  COVERAGE_POINT("pair_sums_one_by_one_kernel");
  y[i] = x[2 * i] + x[2 * i + 1];
}

__global__ void pair_sums_kernel(const std::int64_t* pairs, float* y, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  COVERAGE_POINT("pair_sums_kernel");
  y[i] = sum_of_halves(pairs[i]);
}

}  // namespace

void pair_sums(const float* x, float* y, std::int64_t n, vcuda::Stream stream) {
  if (reinterpret_cast<std::uintptr_t>(x) % sizeof(std::int64_t) == 0) {
    return pair_sums_without_alignment_check(x, y, n, stream);
  }
  if (n != 0) LAUNCH(pair_sums_one_by_one_kernel, blocks_of(n), kBlock, stream, x, y, n);
}

void pair_sums_without_alignment_check(const float* x, float* y, std::int64_t n, vcuda::Stream stream) {
  if (n != 0) LAUNCH(pair_sums_kernel, blocks_of(n), kBlock, stream, reinterpret_cast<const std::int64_t*>(x), y, n);
}

}  // namespace kernels
