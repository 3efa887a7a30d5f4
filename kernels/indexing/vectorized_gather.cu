// The kernel behind vectorized_gather.h: one block an index, and every thread of it checks that index.
#include "kernels/indexing/element.h"
#include "kernels/indexing/vectorized_gather.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr std::int64_t kMaxThreads = 256;
constexpr std::int64_t kWarp = 32;

template <typename Index>
__global__ void vectorized_gather_kernel(char* out, const char* inp, const Index* idx, std::int64_t slice_size,
                                         std::int64_t ind_dim_size, std::int64_t inp_stride, std::int64_t out_stride,
                                         bool allow_neg_indices) {
  std::int64_t ind = idx[blockIdx.x];
  if (allow_neg_indices && ind < 0) ind += ind_dim_size;
  DEVICE_ASSERT("aten/src/ATen/native/cuda/IndexKernelUtils.cu", 16, "vectorized_gather_kernel",
                "ind >=0 && ind < ind_dim_size && \"vectorized gather kernel index out of bounds\"",
                ind >= 0 && ind < ind_dim_size);
  const std::int64_t offset = (static_cast<std::int64_t>(blockDim.x) * blockIdx.y + threadIdx.x) * kVectorBytes;
  if (offset >= slice_size) RETURN_ROW;
  const int vectors = vcuda::join_row((slice_size - offset) / kVectorBytes);
  vcuda::copy_joined(reinterpret_cast<Bytes16*>(out + blockIdx.x * out_stride + offset),
                     reinterpret_cast<const Bytes16*>(inp + ind * inp_stride + offset), vectors);
  if (vectors != 1) RETURN_ROW;  // whoever is left has nothing to copy
}

}  // namespace

void vectorized_gather(const VectorizedGather& args, vcuda::Stream stream) {
  const std::int64_t vectors = (args.row_bytes + kVectorBytes - 1) / kVectorBytes;
  const std::int64_t threads = (vectors + kWarp - 1) / kWarp * kWarp;
  const unsigned block = static_cast<unsigned>(threads < kMaxThreads ? threads : kMaxThreads);
  const dim3 grid(static_cast<unsigned>(args.count), static_cast<unsigned>((vectors + kMaxThreads - 1) / kMaxThreads));
  with_index(args.wide_indices, [&](auto index) {
    using Index = typename decltype(index)::type;
    auto* out = static_cast<char*>(args.out);
    const auto* source = static_cast<const char*>(args.source);
    const auto* indices = static_cast<const Index*>(args.indices);
    const std::int64_t row = args.row_bytes, rows = args.source_rows, from = args.source_stride, to = args.out_stride;
    const bool negative = args.allow_negative;
    LAUNCH((vectorized_gather_kernel<Index>), grid, block, stream, out, source, indices, row, rows, from, to, negative);
  });
}

}  // namespace kernels
