// The kernel behind sparse_index.h: 128 threads a block, 4 elements a thread. A thread of a full block takes
// neighbours, as in every vectorized element-wise kernel; elsewhere its elements lie a block's width apart.
#include "kernels/indexing/sparse_index.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr int kThreads = 128;
constexpr int kPerThread = 4;
constexpr int kPerBlock = kThreads * kPerThread;

__global__ void vectorized_elementwise_kernel(KERNEL_STRUCT(SparseIndex) args) {
  const std::int64_t block = static_cast<std::int64_t>(kPerBlock) * blockIdx.x;
  const bool neighbours = args.stride == 1 && args.count - block >= kPerBlock;
  std::int64_t i = block + (neighbours ? threadIdx.x * kPerThread : threadIdx.x);
  const std::int64_t size = args.size;
  for (int n = 0; n < kPerThread && i < args.count; ++n, i += neighbours ? 1 : kThreads) {
    const std::int64_t idx = args.index[i * args.stride];
    DEVICE_ASSERT("aten/src/ATen/native/cuda/Indexing.cu", 1877, "operator()",
                  "idx >= -size && idx < size && \"index_select(): index out of bounds\"", idx >= -size && idx < size);
    args.wrapped[i] = idx < 0 ? idx + size : idx;
  }
}

}  // namespace

void wrap_sparse_index(const SparseIndex& arguments, vcuda::Stream stream) {
  const unsigned grid = static_cast<unsigned>((arguments.count + kPerBlock - 1) / kPerBlock);
  const SparseIndex args = arguments;
  LAUNCH(vectorized_elementwise_kernel, grid, kThreads, stream, args);
}

}  // namespace kernels
