// The kernel behind repeat_interleave.h: a warp a repeat, 16 warps a block.
#include "kernels/indexing/element.h"
#include "kernels/indexing/repeat_interleave.h"
#include "kernels/vcuda/device_language.h"

#define REPEAT_CU "aten/src/ATen/native/cuda/Repeat.cu"

namespace kernels {
namespace {

constexpr std::int64_t kWarp = 32, kThreads = 512, kMostBlocks = 2048;

template <typename Index>
__global__ void compute_cuda_kernel(const Index* repeat_ptr, const std::int64_t* cumsum_ptr, Index* result_ptr,
                                    std::int64_t size, std::int64_t result_size) {
  // %ld is ATen's; the two numbers are int64.
  DEVICE_ASSERT_PRINTF(REPEAT_CU, 20, "compute_cuda_kernel", "result_size == cumsum_ptr[size - 1]",
                       result_size == cumsum_ptr[size - 1],
                       "Invalid input! In `repeat_interleave`, the `output_size` argument (%ld) must be the same as "
                       "the sum of the elements in the `repeats` tensor (%ld).\n",
                       static_cast<long>(result_size), static_cast<long>(cumsum_ptr[size - 1]));
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t warps = static_cast<std::int64_t>(blockDim.x) * gridDim.x / kWarp;
  for (std::int64_t i = thread / kWarp; i < size; i += warps) {
    const std::int64_t end = cumsum_ptr[i];
    const Index repeat = repeat_ptr[i];
    DEVICE_ASSERT(REPEAT_CU, 33, "compute_cuda_kernel", "repeat >= 0", repeat >= 0);
    for (std::int64_t j = end - repeat + thread % kWarp; j < end; j += kWarp) result_ptr[j] = static_cast<Index>(i);
  }
}

}  // namespace

void repeat_interleave(const RepeatInterleave& args, vcuda::Stream stream) {
  with_index(args.wide, [&](auto index) {
    using Index = typename decltype(index)::type;
    const auto* repeats = static_cast<const Index*>(args.repeats);
    auto* result = static_cast<Index*>(args.result);
    const std::int64_t* sums = args.sums;
    const std::int64_t count = args.count, result_size = args.result_size;
    const std::int64_t wanted = (count * kWarp + kThreads - 1) / kThreads;
    const unsigned grid = static_cast<unsigned>(wanted < kMostBlocks ? wanted : kMostBlocks);
    LAUNCH((compute_cuda_kernel<Index>), grid, kThreads, stream, repeats, sums, result, count, result_size);
  });
}

}  // namespace kernels
