// The kernels behind staged_scale.h.
#include "kernels/custom/staged_scale.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

__global__ void fill_stage_kernel(const float* x, float* buffer, std::int64_t n, float factor) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) buffer[i] = x[i] * factor;
}

__global__ void read_stage_kernel(const float* buffer, float* y, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = buffer[i];
}

}  // namespace

void scale_in_stages(const float* x, float* buffer, float* y, std::int64_t n, float factor, bool all,
                     vcuda::Stream stream) {
  if (n == 0) return;
  const auto blocks = static_cast<unsigned>((n + kStageBlock - 1) / kStageBlock);
  // The bug: `n / kStageBlock` blocks leave the rest to nobody. One block there always is.
  const auto too_few = static_cast<unsigned>(n < kStageBlock ? 1 : n / kStageBlock);
  LAUNCH(fill_stage_kernel, all ? blocks : too_few, kStageBlock, stream, x, buffer, n, factor);
  LAUNCH(read_stage_kernel, blocks, kStageBlock, stream, buffer, y, n);
}

}  // namespace kernels
