// The kernel behind vectorized_gather.h: one block an index, and every thread of it checks that index.
#include "kernels/indexing/element.h"
#include "kernels/indexing/vectorized_gather.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr std::int64_t kMaxThreads = 256;
constexpr std::int64_t kWarp = 32;

// Rows of `slice_size` bytes.
struct Rows {
  char* out;
  const char* inp;
  std::int64_t count, slice_size, ind_dim_size, inp_stride, out_stride;

  // Whether all of them may be touched. Not asked about a source much larger than what is copied.
  __device__ bool are_fine() const {
    const std::int64_t from = (ind_dim_size - 1) * inp_stride + slice_size, to = (count - 1) * out_stride + slice_size;
    return from > 0 && from / vcuda::kWorthALook <= count * slice_size && vcuda::are_accessible(inp, from) &&
           vcuda::are_accessible(out, to);
  }
  // Copies what this thread and those that it joins have of a row, from `offset` on.
  UNCHECKED int copy(std::int64_t row, std::int64_t ind, std::int64_t offset) const {
    const int vectors = vcuda::join_row((slice_size - offset) / kVectorBytes);
    const bool fine = vcuda::once_a_grid([this] { return are_fine(); });
    vcuda::copy_joined(reinterpret_cast<Bytes16*>(out + row * out_stride + offset),
                       reinterpret_cast<const Bytes16*>(inp + ind * inp_stride + offset), vectors, fine);
    return vectors;
  }
};

template <typename Index>
__global__ void vectorized_gather_kernel(KERNEL_STRUCT(Rows) rows, const Index* idx, bool allow_neg_indices) {
  std::int64_t ind = idx[blockIdx.x];
  const std::int64_t ind_dim_size = vcuda::argument(rows.ind_dim_size);
  if (allow_neg_indices && ind < 0) ind += ind_dim_size;
  DEVICE_ASSERT("aten/src/ATen/native/cuda/IndexKernelUtils.cu", 16, "vectorized_gather_kernel",
                "ind >=0 && ind < ind_dim_size && \"vectorized gather kernel index out of bounds\"",
                ind >= 0 && ind < ind_dim_size);
  const std::int64_t offset = (static_cast<std::int64_t>(blockDim.x) * blockIdx.y + threadIdx.x) * kVectorBytes;
  if (offset >= vcuda::argument(rows.slice_size)) RETURN_ROW;
  if (rows.copy(blockIdx.x, ind, offset) != 1) RETURN_ROW;  // whoever is left has nothing to copy
}

}  // namespace

void vectorized_gather(const VectorizedGather& args, vcuda::Stream stream) {
  const std::int64_t vectors = (args.row_bytes + kVectorBytes - 1) / kVectorBytes;
  const std::int64_t threads = (vectors + kWarp - 1) / kWarp * kWarp;
  const unsigned block = static_cast<unsigned>(threads < kMaxThreads ? threads : kMaxThreads);
  const dim3 grid(static_cast<unsigned>(args.count), static_cast<unsigned>((vectors + kMaxThreads - 1) / kMaxThreads));
  with_index(args.wide_indices, [&](auto index) {
    using Index = typename decltype(index)::type;
    const auto* indices = static_cast<const Index*>(args.indices);
    const Rows rows{static_cast<char*>(args.out),
                    static_cast<const char*>(args.source),
                    args.count,
                    args.row_bytes,
                    args.source_rows,
                    args.source_stride,
                    args.out_stride};
    const bool negative = args.allow_negative;
    LAUNCH((vectorized_gather_kernel<Index>), grid, block, stream, rows, indices, negative);
  });
}

}  // namespace kernels
