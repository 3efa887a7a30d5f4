// The kernels behind index_reduce.h. In the small one threads share out a slice and each walks all indices, so that
// every thread meets a bad one; in the large one threads share out all elements of the source.
#include <type_traits>

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

__device__ inline std::uint64_t checked_destination(const IndexReduce& args, std::int64_t src) {
  const std::uint64_t dstIndex = destination_of(args, src);
  DEVICE_ASSERT(INDEXING_CU, 1080, "indexFuncLargeIndex", "dstIndex < dstAddDimSize",
                dstIndex < static_cast<std::uint64_t>(argument(args.self_size)));
  return dstIndex;
}

// What a thread of the large kernel has to do, with those that it has joined.
struct Share {
  std::int64_t first, step, total;
  int joined;
};

// Whether slices are rows of numbers side by side, walked one after another, that are added up.
template <typename T>
__device__ bool adds_rows(const IndexReduce& args) {
  constexpr std::int64_t kBytes = sizeof(T);
  return argument(args.index_major) && argument(args.reduction) == Reduction::add && argument(args.slice.dims) == 1 &&
         argument(args.slice.strides[0][0]) == kBytes && argument(args.slice.strides[1][0]) == kBytes;
}

// Calls `body(from, to, n)` for each part of a row of the source that is the thread's share, n elements, and the place
// that it is added to. `destination(args, row)`: the row of self.
template <typename T, typename Destination, typename Body>
__device__ void for_each_part(const IndexReduce& args, const vcuda::Divisor& inner_size, const Share& share,
                              const Destination& destination, const Body& body) {
  const std::int64_t size = argument(inner_size.number);
  const auto* const source = static_cast<const char*>(argument(args.source));
  auto* const self = static_cast<char*>(argument(args.self));
  for (std::int64_t first = share.first; first < share.total; first += share.step) {
    const std::int64_t end = share.total - first < share.joined ? share.total : first + share.joined;
    for (std::int64_t i = first; i < end;) {
      const std::int64_t row = quotient(i, inner_size), inner = i - row * size;
      const int together = static_cast<int>(end - i < size - inner ? end - i : size - inner);
      const auto to = static_cast<std::int64_t>(destination(args, row));
      body(reinterpret_cast<const T*>(source + row * argument(args.source_stride)) + inner,
           reinterpret_cast<T*>(self + to * argument(args.self_stride)) + inner, together);
      i += together;
    }
  }
}

template <typename T>
UNCHECKED void add_part(const T* from, T* to, int count) {
  for (int i = 0; i < count; ++i) vcuda::add_unchecked(&to[i], from[i]);
}

template <typename T>
__global__ void indexFuncLargeIndex(KERNEL_STRUCT(IndexReduce) args, KERNEL_STRUCT(vcuda::Divisor) inner_size) {
  Share share = {static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x,
                 static_cast<std::int64_t>(gridDim.x) * blockDim.x, args.slice_elements * args.count, 1};
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    if (adds_rows<T>(args)) share.joined = vcuda::join_row(kThreads);
    // Threads that run as one add after the last check of any.
    if (share.joined > 1) {
      for_each_part<T>(args, inner_size, share, checked_destination, [](const T* from, T* to, int count) {
        vcuda::readable(from, count);
        vcuda::writable(to, count);
      });
      for_each_part<T>(args, inner_size, share, destination_of,
                       [](const T* from, T* to, int count) { add_part(from, to, count); });
      return;
    }
  }
  const std::int64_t size = argument(inner_size.number);
  for (std::int64_t i = share.first; i < share.total; i += share.step) {
    const std::int64_t slow = quotient(i, inner_size), fast = i - slow * size;
    const std::int64_t src = argument(args.index_major) ? slow : fast;
    const std::int64_t inner = argument(args.index_major) ? fast : slow;
    combine_element<T>(args, inner, src, checked_destination(args, src));
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
