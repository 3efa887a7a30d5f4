// The kernels behind convert_indices.h: a thread fills the row starts between two indices, or the indices of one row.
#include "kernels/indexing/element.h"
#include "kernels/sparse/convert_indices.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr std::int64_t kThreads = 1024;

template <typename In, typename Out>
__global__ void convert_indices_from_coo_to_csr_cuda_kernel(Out* data_out, const In* data_in, std::int64_t size,
                                                            std::int64_t numel) {
  const std::int64_t tid = static_cast<std::int64_t>(blockDim.x) * blockIdx.x + threadIdx.x;
  if (tid > numel) return;
  const std::int64_t begin = tid == 0 ? 0 : static_cast<std::int64_t>(data_in[tid - 1]) + 1;
  const std::int64_t end = tid == numel ? size + 1 : static_cast<std::int64_t>(data_in[tid]) + 1;
  for (std::int64_t i = begin; i < end; ++i) data_out[i] = static_cast<Out>(tid);
}

template <typename In, typename Out>
__global__ void convert_indices_from_csr_to_coo_cuda_kernel(Out* data_out, const In* data_in, std::int64_t nrows,
                                                            std::int64_t nnz, std::int64_t nbatches) {
  const std::int64_t tid = static_cast<std::int64_t>(blockDim.x) * blockIdx.x + threadIdx.x;
  if (tid >= nrows * nbatches) return;
  const std::int64_t batch = tid / nrows, row = tid % nrows;
  const In* const starts = data_in + batch * (nrows + 1) + row;
  for (std::int64_t i = starts[0]; i < static_cast<std::int64_t>(starts[1]); ++i) {
    data_out[batch * nnz + i] = static_cast<Out>(row);
  }
}

template <typename Launch>
void with_types(IndexTypes types, const Launch& launch) {
  with_index(types.wide_in, [&](auto in) { with_index(types.wide_out, [&](auto out) { launch(in, out); }); });
}

unsigned blocks_of(std::int64_t count) { return static_cast<unsigned>((count + kThreads - 1) / kThreads); }

}  // namespace

void rows_to_starts(IndexTypes types, const void* in, std::int64_t count, std::int64_t rows, void* out,
                    vcuda::Stream stream) {
  with_types(types, [&](auto from, auto to) {
    using In = typename decltype(from)::type;
    using Out = typename decltype(to)::type;
    const auto* data_in = static_cast<const In*>(in);
    auto* data_out = static_cast<Out*>(out);
    const std::int64_t size = rows, numel = count;
    LAUNCH((convert_indices_from_coo_to_csr_cuda_kernel<In, Out>), blocks_of(numel + 1), kThreads, stream, data_out,
           data_in, size, numel);
  });
}

void starts_to_rows(IndexTypes types, const void* in, std::int64_t batches, std::int64_t rows, std::int64_t count,
                    void* out, vcuda::Stream stream) {
  with_types(types, [&](auto from, auto to) {
    using In = typename decltype(from)::type;
    using Out = typename decltype(to)::type;
    const auto* data_in = static_cast<const In*>(in);
    auto* data_out = static_cast<Out*>(out);
    const std::int64_t nrows = rows, nnz = count, nbatches = batches;
    LAUNCH((convert_indices_from_csr_to_coo_cuda_kernel<In, Out>), blocks_of(nrows * nbatches), kThreads, stream,
           data_out, data_in, nrows, nnz, nbatches);
  });
}

}  // namespace kernels
