// The kernel behind advanced_index.h: 128 threads a block, 4 elements a thread, as ATen launches it.
#include "kernels/indexing/advanced_index.h"
#include "kernels/indexing/element.h"
#include "kernels/indexing/offsets.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

using vcuda::argument;

constexpr int kThreads = 128;
constexpr int kPerThread = 4;

template <typename T, bool kPut>
__global__ void index_elementwise_kernel(KERNEL_STRUCT(AdvancedIndex) args) {
  for_each_element<kThreads, kPerThread>(args.walk, args.count, kThreads, [&](const Offsets<3>& offsets) {
    std::int64_t indexed = 0;
    for (int i = 0; i < args.indices; ++i) {
      std::int64_t index = *reinterpret_cast<const std::int64_t*>(argument(args.index[i]) + offsets.bytes[2]);
      const std::int64_t size = argument(args.sizes[i]);
      DEVICE_ASSERT("aten/src/ATen/native/cuda/IndexKernel.cu", 111, "operator()",
                    "-sizes[i] <= index && index < sizes[i] && \"index out of bounds\"",
                    -size <= index && index < size);
      if (index < 0) index += size;
      indexed += index * argument(args.strides[i]);
    }
    char* to = static_cast<char*>(args.out) + offsets.bytes[0] + (kPut ? indexed : 0);
    const char* from = static_cast<const char*>(args.in) + offsets.bytes[1] + (kPut ? 0 : indexed);
    *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
  });
}

template <bool kPut>
void launch_index(const AdvancedIndex& arguments, vcuda::Stream stream) {
  constexpr std::int64_t kPerBlock = kThreads * kPerThread;
  const unsigned grid = static_cast<unsigned>((arguments.count + kPerBlock - 1) / kPerBlock);
  with_element_of(arguments.element_bytes, [&](auto element) {
    using T = typename decltype(element)::type;
    const AdvancedIndex args = arguments;
    LAUNCH((index_elementwise_kernel<T, kPut>), grid, kThreads, stream, args);
  });
}

}  // namespace

void index_get(const AdvancedIndex& args, vcuda::Stream stream) { launch_index<false>(args, stream); }
void index_put(const AdvancedIndex& args, vcuda::Stream stream) { launch_index<true>(args, stream); }

}  // namespace kernels
