// The kernel behind unpack_pivots.h: a thread for each matrix, 128 threads a block.
#include "kernels/linalg/unpack_pivots.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr std::int64_t kThreads = 128;

__global__ void unpack_pivots_cuda_kernel(KERNEL_STRUCT(UnpackPivots) args) {
  const std::int64_t batch = kThreads * blockIdx.x + threadIdx.x;
  if (batch >= args.batches) return;
  const std::int32_t* const pivots = args.pivots + batch * args.swaps;
  std::int64_t* const permutation = args.permutations + batch * args.rows;
  for (std::int64_t i = 0; i < args.swaps; ++i) {
    const std::int32_t other = pivots[i] - 1;
    const std::int64_t moved = permutation[i];
    permutation[i] = permutation[other];
    permutation[other] = moved;
  }
}

}  // namespace

void unpack_pivots(const UnpackPivots& arguments, vcuda::Stream stream) {
  const UnpackPivots args = arguments;
  const auto grid = static_cast<unsigned>((args.batches + kThreads - 1) / kThreads);
  LAUNCH(unpack_pivots_cuda_kernel, grid, kThreads, stream, args);
}

}  // namespace kernels
