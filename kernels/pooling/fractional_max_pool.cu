// The kernels behind fractional_max_pool.h: a thread an output point, blocks of at most 128, one row of blocks for each
// plane of each sample.
#include "kernels/pooling/fractional_max_pool.h"
#include "kernels/vcuda/floating.h"

#define FRACTIONAL_2D_CU "aten/src/ATen/native/cuda/FractionalMaxPool2d.cu"
#define FRACTIONAL_3D_CU "aten/src/ATen/native/cuda/FractionalMaxPool3d.cu"

namespace kernels {
namespace {

constexpr std::int64_t kThreads = 128;

template <typename T>
__global__ void fractional_max_pool2d_backward_out_cuda_frame(T* gradInput, const T* gradOutput,
                                                              const std::int64_t* indices, int outputs, int height,
                                                              int width) {
  const int point = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
  if (point >= outputs) return;
  const std::int64_t plane = static_cast<std::int64_t>(blockIdx.z) * gridDim.y + blockIdx.y;
  const int index = static_cast<int>(indices[plane * outputs + point]);
  DEVICE_ASSERT(FRACTIONAL_2D_CU, 120, "fractional_max_pool2d_backward_out_cuda_frame", "index >= 0", index >= 0);
  const int inputW = index % width;
  const int inputH = index / width;
  DEVICE_ASSERT(FRACTIONAL_2D_CU, 123, "fractional_max_pool2d_backward_out_cuda_frame", "inputH < gradInput.size(2)",
                inputH < height);
  atomicAdd(&gradInput[(plane * height + inputH) * width + inputW], gradOutput[plane * outputs + point]);
}

template <typename T>
__global__ void fractional_max_pool3d_backward_out_frame(T* gradInput, const T* gradOutput, const std::int64_t* indices,
                                                         std::int64_t outputs, std::int64_t time, std::int64_t height,
                                                         std::int64_t width) {
  const std::int64_t point = threadIdx.x + static_cast<std::int64_t>(blockIdx.x) * blockDim.x;
  if (point >= outputs) return;
  const std::int64_t plane = static_cast<std::int64_t>(blockIdx.z) * gridDim.y + blockIdx.y;
  const std::int64_t index = indices[plane * outputs + point];
  DEVICE_ASSERT(FRACTIONAL_3D_CU, 140, "fractional_max_pool3d_backward_out_frame", "index >= 0", index >= 0);
  const std::int64_t inputW = index % width;
  const std::int64_t inputH = index / width % height;
  const std::int64_t inputT = index / (height * width);
  DEVICE_ASSERT(FRACTIONAL_3D_CU, 146, "fractional_max_pool3d_backward_out_frame", "inputT < gradInput.size(2)",
                inputT < time);
  atomicAdd(&gradInput[((plane * time + inputT) * height + inputH) * width + inputW],
            gradOutput[plane * outputs + point]);
}

dim3 grid_of(const FractionalMaxPoolBackward& args) {
  return dim3(static_cast<unsigned>((args.outputs + kThreads - 1) / kThreads), static_cast<unsigned>(args.planes),
              static_cast<unsigned>(args.batch));
}

unsigned block_of(const FractionalMaxPoolBackward& args) {
  return static_cast<unsigned>(args.outputs < kThreads ? args.outputs : kThreads);
}

}  // namespace

void fractional_max_pool2d_backward(const FractionalMaxPoolBackward& args, vcuda::Stream stream) {
  with_floating(args.dtype, [&](auto element) {
    using T = typename decltype(element)::type;
    auto* grad_input = static_cast<T*>(args.grad_input);
    const auto* grad_output = static_cast<const T*>(args.grad_output);
    const std::int64_t* indices = args.indices;
    const int outputs = static_cast<int>(args.outputs);
    const int height = static_cast<int>(args.height), width = static_cast<int>(args.width);
    LAUNCH((fractional_max_pool2d_backward_out_cuda_frame<T>), grid_of(args), block_of(args), stream, grad_input,
           grad_output, indices, outputs, height, width);
  });
}

void fractional_max_pool3d_backward(const FractionalMaxPoolBackward& args, vcuda::Stream stream) {
  with_floating(args.dtype, [&](auto element) {
    using T = typename decltype(element)::type;
    auto* grad_input = static_cast<T*>(args.grad_input);
    const auto* grad_output = static_cast<const T*>(args.grad_output);
    const std::int64_t* indices = args.indices;
    const std::int64_t outputs = args.outputs, time = args.time, height = args.height, width = args.width;
    LAUNCH((fractional_max_pool3d_backward_out_frame<T>), grid_of(args), block_of(args), stream, grad_input,
           grad_output, indices, outputs, time, height, width);
  });
}

}  // namespace kernels
