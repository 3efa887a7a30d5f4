// The kernels behind index_slices.h: 128 threads a block, 4 elements a thread, as ATen launches them. Both are functors
// inside one kernel there, so the asserts name operator().
#include "kernels/indexing/element.h"
#include "kernels/indexing/index_slices.h"
#include "kernels/indexing/offsets.h"
#include "kernels/vcuda/device_language.h"

#define INDEX_KERNEL_CU "aten/src/ATen/native/cuda/IndexKernel.cu"

namespace kernels {
namespace {

constexpr int kThreads = 128;
constexpr int kPerThread = 4;

__device__ inline std::int64_t checked_fill_index(std::int64_t idx, std::int64_t self_dim_size) {
  DEVICE_ASSERT(INDEX_KERNEL_CU, 154, "operator()",
                "idx >= -self_dim_size && idx < self_dim_size && \"index out of bounds\"",
                idx >= -self_dim_size && idx < self_dim_size);
  return idx < 0 ? idx + self_dim_size : idx;
}

__device__ inline std::int64_t checked_copy_index(std::int64_t idx, std::int64_t self_dim_size) {
  DEVICE_ASSERT(INDEX_KERNEL_CU, 193, "operator()",
                "idx >= 0 && idx < self_dim_size && \"index_copy_(): index out of bounds\"",
                idx >= 0 && idx < self_dim_size);
  return idx;
}

template <typename T, bool kFill>
__global__ void index_elementwise_kernel(KERNEL_STRUCT(IndexSlices) args, const Value value) {
  for_each_element<kThreads, kPerThread>(args.walk, args.count, kThreads, [&](const Offsets<3>& at) {
    const std::int64_t given =
        *reinterpret_cast<const std::int64_t*>(static_cast<const char*>(args.index) + at.bytes[1]);
    const std::int64_t idx = kFill ? checked_fill_index(given, args.size) : checked_copy_index(given, args.size);
    T& to = *reinterpret_cast<T*>(static_cast<char*>(args.self) + at.bytes[0] + idx * args.stride);
    if constexpr (kFill) {
      to = *reinterpret_cast<const T*>(value.bytes);
    } else {
      to = *reinterpret_cast<const T*>(static_cast<const char*>(args.source) + at.bytes[2]);
    }
  });
}

template <bool kFill>
void launch_slices(const IndexSlices& arguments, const Value& filler, vcuda::Stream stream) {
  constexpr std::int64_t kPerBlock = kThreads * kPerThread;
  const unsigned grid = static_cast<unsigned>((arguments.count + kPerBlock - 1) / kPerBlock);
  with_element_of(arguments.element_bytes, [&](auto element) {
    using T = typename decltype(element)::type;
    const IndexSlices args = arguments;
    const Value value = filler;
    LAUNCH((index_elementwise_kernel<T, kFill>), grid, kThreads, stream, args, value);
  });
}

}  // namespace

void index_fill(const IndexSlices& args, Value value, vcuda::Stream stream) {
  launch_slices<true>(args, value, stream);
}
void index_copy(const IndexSlices& args, vcuda::Stream stream) { launch_slices<false>(args, {}, stream); }

}  // namespace kernels
