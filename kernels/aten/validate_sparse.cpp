// The check of compressed sparse indices, on the virtual device: two launches, as on CUDA.
#include <ATen/ATen.h>
#include <torch/library.h>

#include "kernels/aten/registration.h"
#include "kernels/sparse/validate_compressed_indices.h"

namespace vcuda::aten {
namespace {

using at::Tensor;

void validate_compressed_sparse_indices(bool, const Tensor& compressed_idx, const Tensor& plain_idx, int64_t cdim,
                                        int64_t dim, int64_t nnz) {
  expect_one_device("wrapper_CUDA___validate_compressed_sparse_indices",
                    {{compressed_idx, "compressed_idx"}, {plain_idx, "plain_idx"}});
  const c10::DeviceGuard guard(compressed_idx.device());
  check_pending();
  const at::ScalarType type = plain_idx.scalar_type();
  if (type != at::kLong && type != at::kInt) throw_no_kernel("compressed_index_invariance_checks", type);
  expect_type(compressed_idx, type);
  const Tensor compressed = compressed_idx.contiguous(), plain = plain_idx.contiguous();
  kernels::CompressedIndices args;
  args.compressed = compressed.const_data_ptr();
  args.plain = plain.const_data_ptr();
  args.wide = type == at::kLong;
  args.compressed_size = cdim;
  args.plain_size = dim;
  args.count = nnz;
  args.batches = cdim > 0 ? compressed.numel() / (cdim + 1) : 0;
  if (plain.numel() > 0) kernels::check_plain_indices(args, plain.numel(), stream_for(compressed));
  if (args.batches > 0) kernels::check_compressed_indices(args, stream_for(compressed));
  check_after_launch();
}

}  // namespace

DSAFUZZ_OPERATORS(dense, m) { m.impl("_validate_compressed_sparse_indices", &validate_compressed_sparse_indices); }

}  // namespace vcuda::aten
