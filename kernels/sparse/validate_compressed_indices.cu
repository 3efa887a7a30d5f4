// The kernels behind validate_compressed_indices.h, in the shape of an element-wise kernel over strided operands: 128
// threads a block, 4 elements a thread that lie a block apart. A thread ends at the first invariant that is broken.
#include "kernels/indexing/element.h"
#include "kernels/sparse/validate_compressed_indices.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr std::int64_t kThreads = 128;
constexpr std::int64_t kPerThread = 4;
constexpr std::int64_t kPerBlock = kThreads * kPerThread;

// ATen asserts inside a function of its own, so all invariants share a place.
__device__ void require(bool invariant) {
  DEVICE_ASSERT("aten/src/ATen/native/sparse/ValidateCompressedIndicesCommon.h", 44, "_assert", "cond && message",
                invariant);
}

template <typename Index>
__device__ void check_slice(const CompressedIndices& args, std::int64_t slice) {
  const std::int64_t batch = slice / args.compressed_size;
  const Index* const compressed = static_cast<const Index*>(args.compressed) + batch * (args.compressed_size + 1);
  const Index* const current = compressed + slice % args.compressed_size;
  const std::int64_t begin = current[0], end = current[1];
  require(compressed[0] == 0);
  require(compressed[args.compressed_size] == args.count);
  require(0 <= end - begin && end - begin <= args.plain_size);
  const Index* const plain = static_cast<const Index*>(args.plain) + batch * args.count;
  for (std::int64_t i = begin + 1; i < end; ++i) require(plain[i - 1] < plain[i]);
}

template <typename Index, bool kSlices>
__global__ void elementwise_kernel(KERNEL_STRUCT(CompressedIndices) args, std::int64_t total) {
  for (std::int64_t k = 0; k < kPerThread; ++k) {
    const std::int64_t i = kPerBlock * blockIdx.x + kThreads * k + threadIdx.x;
    if (i >= total) return;
    if constexpr (kSlices) {
      check_slice<Index>(args, i);
    } else {
      const std::int64_t plain = static_cast<const Index*>(args.plain)[i];
      require(0 <= plain && plain < args.plain_size);
    }
  }
}

template <bool kSlices>
void launch(const CompressedIndices& arguments, std::int64_t elements, vcuda::Stream stream) {
  const CompressedIndices args = arguments;
  const std::int64_t total = elements;
  const unsigned grid = static_cast<unsigned>((total + kPerBlock - 1) / kPerBlock);
  with_index(args.wide, [&](auto type) {
    using Index = typename decltype(type)::type;
    LAUNCH((elementwise_kernel<Index, kSlices>), grid, kThreads, stream, args, total);
  });
}

}  // namespace

void check_plain_indices(const CompressedIndices& args, std::int64_t elements, vcuda::Stream stream) {
  launch<false>(args, elements, stream);
}

void check_compressed_indices(const CompressedIndices& args, vcuda::Stream stream) {
  launch<true>(args, args.batches * args.compressed_size, stream);
}

}  // namespace kernels
