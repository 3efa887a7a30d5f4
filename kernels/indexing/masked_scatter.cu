// The kernels behind masked_scatter.h, launched one after the other as ATen does: count the marks, check, copy.
#include "kernels/indexing/element.h"
#include "kernels/indexing/masked_scatter.h"
#include "kernels/indexing/offsets.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr int kThreads = 128;
constexpr int kPerThread = 4;

__global__ void count_marks_kernel(std::int64_t* ordinal, const bool* mask, std::int64_t count) {
  std::int64_t seen = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    ordinal[i] = seen;
    seen += mask[i] ? 1 : 0;
  }
}

__global__ void masked_scatter_size_check(const std::int64_t* last_ordinal, const bool* last_mask,
                                          std::int64_t srcSize) {
  const std::int64_t totalElements = *last_ordinal + (*last_mask ? 1 : 0);
  DEVICE_ASSERT("aten/src/ATen/native/cuda/IndexKernel.cu", 400, "masked_scatter_size_check",
                "totalElements <= srcSize", totalElements <= srcSize);
}

template <typename T>
__global__ void masked_scatter_kernel(KERNEL_STRUCT(MaskedScatter) args) {
  std::int64_t i = static_cast<std::int64_t>(kThreads) * kPerThread * blockIdx.x + threadIdx.x;
  for (int n = 0; n < kPerThread && i < args.count; ++n, i += kThreads) {
    if (!args.mask[i]) continue;
    const Offsets<1> at = offsets_of(args.self_walk, i);
    *reinterpret_cast<T*>(static_cast<char*>(args.self) + at.bytes[0]) =
        static_cast<const T*>(args.source)[args.ordinal[i]];
  }
}

}  // namespace

void masked_scatter(const MaskedScatter& arguments, vcuda::Stream stream) {
  constexpr std::int64_t kPerBlock = kThreads * kPerThread;
  const unsigned grid = static_cast<unsigned>((arguments.count + kPerBlock - 1) / kPerBlock);
  auto* ordinal = arguments.ordinal;
  const bool* mask = arguments.mask;
  const std::int64_t count = arguments.count, source_size = arguments.source_size;
  LAUNCH(count_marks_kernel, 1, 1, stream, ordinal, mask, count);
  LAUNCH(masked_scatter_size_check, 1, 1, stream, ordinal + count - 1, mask + count - 1, source_size);
  with_element_of(arguments.element_bytes, [&](auto element) {
    using T = typename decltype(element)::type;
    const MaskedScatter args = arguments;
    LAUNCH((masked_scatter_kernel<T>), grid, kThreads, stream, args);
  });
}

}  // namespace kernels
