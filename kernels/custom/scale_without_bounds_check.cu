// The two kernels behind scale_without_bounds_check.h.
#include "kernels/custom/scale_without_bounds_check.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

__global__ void scale_kernel(const float* x, float* y, std::int64_t n, float factor) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  COVERAGE_POINT("scale_kernel");
  y[i] = x[i] * factor;
}

// The bug: no `i >= n` guard.
__global__ void scale_without_bounds_check_kernel(const float* x, float* y, float factor) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  y[i] = x[i] * factor;
}

unsigned blocks_of(std::int64_t n) { return static_cast<unsigned>((n + kScaleBlock - 1) / kScaleBlock); }

}  // namespace

void scale(const float* x, float* y, std::int64_t n, float factor, vcuda::Stream stream) {
  if (n == 0) return;
  LAUNCH(scale_kernel, blocks_of(n), kScaleBlock, stream, x, y, n, factor);
}

void scale_without_bounds_check(const float* x, float* y, std::int64_t n, float factor, vcuda::Stream stream) {
  if (n == 0) return;
  LAUNCH(scale_without_bounds_check_kernel, blocks_of(n), kScaleBlock, stream, x, y, factor);
}

}  // namespace kernels
