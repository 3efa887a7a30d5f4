// The kernels behind block_sums.h.
#include "kernels/custom/block_sums.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

__device__ float sum_of(const float* partial, std::int64_t count) {
  float sum = 0;
  for (std::int64_t k = 0; k < count && k < kSumBlock; ++k) sum += partial[k];
  return sum;
}

__global__ void block_sums_kernel(const float* x, std::int64_t n, float* sums) {
  __shared__ float partial[kSumBlock];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kSumBlock;
  const std::int64_t i = first + threadIdx.x;
  partial[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = sum_of(partial, n - first);
}

// The bug: not all threads of the last block reach the barrier.
__global__ void block_sums_early_exit_kernel(const float* x, std::int64_t n, float* sums) {
  __shared__ float partial[kSumBlock];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kSumBlock;
  const std::int64_t i = first + threadIdx.x;
  if (i >= n) return;
  COVERAGE_POINT("block_sums_early_exit_kernel");
  partial[threadIdx.x] = x[i];
  __syncthreads();
  if (threadIdx.x == 0) sums[blockIdx.x] = sum_of(partial, n - first);
}

}  // namespace

void block_sums(const float* x, std::int64_t n, float* sums, bool guarded, vcuda::Stream stream) {
  if (n == 0) return;
  const auto blocks = static_cast<unsigned>((n + kSumBlock - 1) / kSumBlock);
  if (guarded) {
    LAUNCH_WITH_BARRIERS(block_sums_kernel, blocks, kSumBlock, stream, x, n, sums);
  } else {
    LAUNCH_WITH_BARRIERS(block_sums_early_exit_kernel, blocks, kSumBlock, stream, x, n, sums);
  }
}

}  // namespace kernels
