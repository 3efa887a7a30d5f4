// The kernels behind unordered_sum.h.
#include "kernels/custom/unordered_sum.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr std::int64_t kBlock = 256;

unsigned blocks_of(std::int64_t n) { return static_cast<unsigned>((n + kBlock - 1) / kBlock); }

__global__ void sum_atomically_kernel(const float* x, std::int64_t n, float* sum) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, x[i]);
}

// The bug: load, add and store are three steps.
__global__ void sum_without_atomics_kernel(const float* x, std::int64_t n, float* sum) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) *sum += x[i];
}

}  // namespace

void sum_atomically(const float* x, std::int64_t n, float* sum, vcuda::Stream stream) {
  if (n != 0) LAUNCH(sum_atomically_kernel, blocks_of(n), kBlock, stream, x, n, sum);
}

void sum_without_atomics(const float* x, std::int64_t n, float* sum, vcuda::Stream stream) {
  if (n != 0) LAUNCH(sum_without_atomics_kernel, blocks_of(n), kBlock, stream, x, n, sum);
}

}  // namespace kernels
