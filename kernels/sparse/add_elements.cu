// The kernel behind add_elements.h: a thread for each element, at most 512 a block.
#include "kernels/sparse/add_elements.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

using vcuda::from_float;
using vcuda::to_float;

constexpr std::int64_t kThreads = 512;

template <typename T>
__global__ void sparseElementwiseKernelScalar(KERNEL_STRUCT(AddElements) args) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const T* const values = static_cast<const T*>(args.values);
  T* const dense = static_cast<T*>(args.dense);
  for (std::int64_t i = static_cast<std::int64_t>(blockDim.x) * blockIdx.x + threadIdx.x; i < args.count; i += step) {
    std::int64_t at = 0;
    for (int dim = 0; dim < args.dims; ++dim) at += args.strides[dim] * args.indices[dim * args.count + i];
    dense[at] = from_float<T>(to_float(dense[at]) + to_float(values[i]));
  }
}

template <typename T>
void launch(const AddElements& arguments, vcuda::Stream stream) {
  const AddElements args = arguments;
  const std::int64_t threads = args.count < kThreads ? args.count : kThreads;
  const auto grid = static_cast<unsigned>((args.count + threads - 1) / threads);
  LAUNCH(sparseElementwiseKernelScalar<T>, grid, static_cast<unsigned>(threads), stream, args);
}

}  // namespace

void add_elements(const AddElements& args, vcuda::Stream stream) {
  switch (args.dtype) {
    case vcuda::DType::f16: return launch<vcuda::Half>(args, stream);
    case vcuda::DType::bf16: return launch<vcuda::BFloat16>(args, stream);
    case vcuda::DType::f32: return launch<float>(args, stream);
    case vcuda::DType::f64: return launch<double>(args, stream);
    default: return;
  }
}

}  // namespace kernels
