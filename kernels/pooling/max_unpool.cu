// The kernels behind max_unpool.h: a thread an element. In three dimensions a block covers 32 x 8 elements of one
// frame, and the grid's third dimension counts frames.
#include "kernels/indexing/element.h"
#include "kernels/pooling/max_unpool.h"
#include "kernels/vcuda/device_language.h"

#define MAX_UNPOOLING_CU "aten/src/ATen/native/cuda/MaxUnpooling.cu"

namespace kernels {
namespace {

constexpr std::int64_t kThreads = 1024;
constexpr std::int64_t kBlockX = 32, kBlockY = 8;
constexpr std::int64_t kMostFrames = 65535;

template <typename T>
__global__ void max_unpooling2d_forward_kernel(std::int64_t count, const T* input, const std::int64_t* indices,
                                               std::int64_t plane_size, std::int64_t outputImageSize, T* output) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int maxind = static_cast<int>(indices[i]);
  DEVICE_ASSERT(MAX_UNPOOLING_CU, 47, "max_unpooling2d_forward_kernel", "maxind >= 0 && maxind < outputImageSize",
                maxind >= 0 && maxind < outputImageSize);
  output[i / plane_size * outputImageSize + maxind] = input[i];
}

template <typename T>
__global__ void max_unpooling3d_forward_kernel(const T* input, const std::int64_t* indices, T* output,
                                               std::int64_t time, std::int64_t height, std::int64_t width,
                                               std::int64_t outputImageSize, std::int64_t first_frame) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  if (row >= height || column >= width) return;
  const std::int64_t frame = blockIdx.z + first_frame;
  const std::int64_t i = (frame * height + row) * width + column;
  const std::int64_t index = indices[i];
  DEVICE_ASSERT(MAX_UNPOOLING_CU, 69, "max_unpooling3d_forward_kernel", "index >= 0 && index < outputImageSize",
                index >= 0 && index < outputImageSize);
  output[frame / time * outputImageSize + index] = input[i];
}

unsigned blocks_of(std::int64_t count, std::int64_t threads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

}  // namespace

void max_unpool2d(const MaxUnpool& args, vcuda::Stream stream) {
  with_element_of(args.element_bytes, [&](auto element) {
    using T = typename decltype(element)::type;
    const auto* input = static_cast<const T*>(args.input);
    auto* output = static_cast<T*>(args.output);
    const std::int64_t* indices = args.indices;
    const std::int64_t plane = args.height * args.width, count = args.planes * plane, out_size = args.out_size;
    LAUNCH((max_unpooling2d_forward_kernel<T>), blocks_of(count, kThreads), kThreads, stream, count, input, indices,
           plane, out_size, output);
  });
}

void max_unpool3d(const MaxUnpool& args, vcuda::Stream stream) {
  with_element_of(args.element_bytes, [&](auto element) {
    using T = typename decltype(element)::type;
    const auto* input = static_cast<const T*>(args.input);
    auto* output = static_cast<T*>(args.output);
    const std::int64_t* indices = args.indices;
    const std::int64_t time = args.time, height = args.height, width = args.width, out_size = args.out_size;
    const std::int64_t frames = args.planes * time;
    for (std::int64_t first = 0; first < frames; first += kMostFrames) {
      const std::int64_t some = frames - first < kMostFrames ? frames - first : kMostFrames;
      const dim3 grid(blocks_of(width, kBlockX), blocks_of(height, kBlockY), static_cast<unsigned>(some));
      LAUNCH((max_unpooling3d_forward_kernel<T>), grid, dim3(kBlockX, kBlockY), stream, input, indices, output, time,
             height, width, out_size, first);
    }
  });
}

}  // namespace kernels
