// The kernels behind index_reduce.h. In the small one threads share out a slice and each walks all indices, so that
// every thread meets a bad one; in the large one threads share out all elements of the source.
#include "kernels/indexing/combine.h"
#include "kernels/indexing/element.h"
#include "kernels/indexing/index_reduce.h"
#include "kernels/indexing/offsets.h"
#include "kernels/vcuda/device_language.h"

#define INDEXING_CU "aten/src/ATen/native/cuda/Indexing.cu"

namespace kernels {
namespace {

using vcuda::argument;

constexpr std::int64_t kThreads = 128;
constexpr std::int64_t kMaxBlocks = 132 * 8;
constexpr std::int64_t kSmallIndexLimit = 16;

__device__ inline std::uint64_t destination_of(const IndexReduce& args, std::int64_t i) {
  const std::int64_t at = i * argument(args.index_stride);
  const void* const index = argument(args.index);
  const std::int64_t given = argument(args.wide_index) ? static_cast<const std::int64_t*>(index)[at]
                                                       : static_cast<const std::int32_t*>(index)[at];
  return argument(args.narrow) ? static_cast<std::uint32_t>(given) : static_cast<std::uint64_t>(given);
}

// Combines element `inner` of slice `from` of the source into slice `to` of self.
template <typename T>
__device__ void combine_element(const IndexReduce& args, std::int64_t inner, std::int64_t from, std::uint64_t to) {
  const Offsets<2> at = offsets_of(args.slice, inner);
  const auto* const source = static_cast<const char*>(argument(args.source)) + from * argument(args.source_stride);
  const T value = *reinterpret_cast<const T*>(source + at.bytes[1]);
  auto* const self =
      static_cast<char*>(argument(args.self)) + static_cast<std::int64_t>(to) * argument(args.self_stride);
  auto* const address = reinterpret_cast<T*>(self + at.bytes[0]);
  const Reduction reduction = argument(args.reduction);
  vcuda::update_atomically(address, [=](T old) { return combined<T>(old, value, reduction); });
}

template <typename T>
__global__ void indexFuncSmallIndex(KERNEL_STRUCT(IndexReduce) args) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t src = 0; src < args.count; ++src) {
    const std::uint64_t dstIndex = destination_of(args, src);
    DEVICE_ASSERT(INDEXING_CU, 1021, "indexFuncSmallIndex", "dstIndex < dstAddDimSize",
                  dstIndex < static_cast<std::uint64_t>(argument(args.self_size)));
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < args.slice_elements;
         i += step) {
      combine_element<T>(args, i, src, dstIndex);
    }
  }
}

template <typename T>
__global__ void indexFuncLargeIndex(KERNEL_STRUCT(IndexReduce) args, KERNEL_STRUCT(vcuda::Divisor) inner_size) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t total = args.slice_elements * args.count, size = argument(inner_size.number);
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const std::int64_t slow = quotient(i, inner_size), fast = i - slow * size;
    const std::int64_t src = argument(args.index_major) ? slow : fast;
    const std::int64_t inner = argument(args.index_major) ? fast : slow;
    const std::uint64_t dstIndex = destination_of(args, src);
    DEVICE_ASSERT(INDEXING_CU, 1080, "indexFuncLargeIndex", "dstIndex < dstAddDimSize",
                  dstIndex < static_cast<std::uint64_t>(argument(args.self_size)));
    combine_element<T>(args, inner, src, dstIndex);
  }
}

}  // namespace

void index_reduce(const IndexReduce& arguments, vcuda::Stream stream) {
  const bool small = arguments.narrow && arguments.count <= kSmallIndexLimit;
  const std::int64_t shared_out = small ? arguments.slice_elements : arguments.slice_elements * arguments.count;
  const std::int64_t wanted = (shared_out + kThreads - 1) / kThreads;
  const unsigned grid = static_cast<unsigned>(wanted < kMaxBlocks ? wanted : kMaxBlocks);
  const unsigned block = static_cast<unsigned>(shared_out < kThreads ? shared_out : kThreads);
  with_arithmetic(arguments.dtype, [&](auto element) {
    using T = typename decltype(element)::type;
    const IndexReduce args = arguments;
    if (small) {
      LAUNCH((indexFuncSmallIndex<T>), grid, block, stream, args);
    } else {
      const vcuda::Divisor inner_size = args.index_major ? args.slice_elements : args.count;
      LAUNCH((indexFuncLargeIndex<T>), grid, block, stream, args, inner_size);
    }
  });
}

}  // namespace kernels
