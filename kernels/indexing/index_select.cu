// The kernel behind index_select.h: threads share out one slice, and each walks all indices, so that every thread
// meets a bad one.
#include "kernels/indexing/element.h"
#include "kernels/indexing/index_select.h"
#include "kernels/indexing/offsets.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr std::int64_t kThreads = 128;
constexpr std::int64_t kMaxBlocks = 132 * 8;

template <typename T, typename IndicesType, typename IndexType>
__global__ void indexSelectSmallIndex(char* dst, const char* src, const IndicesType* indices,
                                      KERNEL_STRUCT(vcuda::Walk<2>) slice, std::int64_t count,
                                      std::int64_t index_stride, std::int64_t dst_stride, std::int64_t src_stride,
                                      std::int64_t inner_size, std::int64_t srcSelectDimSize) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t dst_index = 0; dst_index < count; ++dst_index) {
    const IndexType srcIndex = static_cast<IndexType>(indices[dst_index * index_stride]);
    DEVICE_ASSERT("aten/src/ATen/native/cuda/Indexing.cu", 1515, "indexSelectSmallIndex", "srcIndex < srcSelectDimSize",
                  srcIndex < static_cast<std::uint64_t>(srcSelectDimSize));
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < inner_size; i += step) {
      const Offsets<2> at = offsets_of(slice, i);
      const T value = *reinterpret_cast<const T*>(src + at.bytes[1] + static_cast<std::int64_t>(srcIndex) * src_stride);
      *reinterpret_cast<T*>(dst + at.bytes[0] + dst_index * dst_stride) = value;
    }
  }
}

}  // namespace

void index_select_small(const IndexSelect& args, vcuda::Stream stream) {
  const std::int64_t wanted = (args.slice_elements + kThreads - 1) / kThreads;
  const unsigned grid = static_cast<unsigned>(wanted < kMaxBlocks ? wanted : kMaxBlocks);
  const unsigned block = static_cast<unsigned>(args.slice_elements < kThreads ? args.slice_elements : kThreads);
  with_element_of(args.element_bytes, [&](auto element) {
    with_index(args.wide_indices, [&](auto index) {
      using T = typename decltype(element)::type;
      using Indices = typename decltype(index)::type;
      auto* out = static_cast<char*>(args.out);
      const auto* source = static_cast<const char*>(args.source);
      const auto* indices = static_cast<const Indices*>(args.indices);
      const vcuda::Walk<2> slice = args.slice;
      const std::int64_t count = args.count, index_stride = args.index_stride, out_stride = args.out_stride;
      const std::int64_t source_stride = args.source_stride, elements = args.slice_elements, size = args.source_size;
      if (args.narrow) {
        LAUNCH((indexSelectSmallIndex<T, Indices, std::uint32_t>), grid, block, stream, out, source, indices, slice,
               count, index_stride, out_stride, source_stride, elements, size);
      } else {
        LAUNCH((indexSelectSmallIndex<T, Indices, std::uint64_t>), grid, block, stream, out, source, indices, slice,
               count, index_stride, out_stride, source_stride, elements, size);
      }
    });
  });
}

}  // namespace kernels
