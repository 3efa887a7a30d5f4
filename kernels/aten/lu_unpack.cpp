// lu_unpack on the virtual device. The CPU checks the pivots in its own kernel; CUDA's has no check.
#include <ATen/ATen.h>
#include <ATen/ops/lu_unpack_meta.h>
#include <torch/library.h>

#include <algorithm>

#include "kernels/aten/registration.h"
#include "kernels/linalg/unpack_pivots.h"

namespace vcuda::aten {
namespace {

using at::Tensor;

// The host's checks of types and shapes, which size no output here.
struct Checks final : at::meta::structured_lu_unpack {
  at::Tensor none;
  const at::Tensor& maybe_get_output(int64_t) override { return none; }
  void set_output_strided(int64_t, at::IntArrayRef, at::IntArrayRef, at::TensorOptions, at::DimnameList) override {}
  void set_output_raw_strided(int64_t, at::IntArrayRef, at::IntArrayRef, at::TensorOptions, at::DimnameList) override {}
};

Tensor permutation_matrix(const Tensor& lu, const Tensor& pivots) {
  const int64_t rows = lu.size(-2);
  std::vector<int64_t> sizes = lu.sizes().vec();
  sizes.back() = rows;
  const Tensor matrix = at::zeros(sizes, lu.options());
  sizes.pop_back();
  const Tensor permutations = at::arange(rows, lu.options().dtype(at::kLong)).expand(sizes).contiguous();
  const Tensor swaps = pivots.contiguous();
  kernels::UnpackPivots args;
  args.pivots = static_cast<const int32_t*>(swaps.const_data_ptr());
  args.permutations = static_cast<int64_t*>(permutations.mutable_data_ptr());
  args.batches = rows == 0 ? 0 : permutations.numel() / rows;
  args.swaps = swaps.size(-1);
  args.rows = rows;
  if (args.batches == 0 || args.swaps == 0) return matrix;
  kernels::unpack_pivots(args, stream_for(lu));
  check_after_launch();
  return matrix.scatter_(-2, permutations.unsqueeze(-2), 1);
}

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& lu, const Tensor& pivots, bool unpack_data,
                                             bool unpack_pivots) {
  expect_one_device("wrapper_CUDA_lu_unpack", {{lu, "LU_data"}, {pivots, "LU_pivots"}});
  const c10::DeviceGuard guard(lu.device());
  check_pending();
  Checks().meta(lu, pivots, unpack_data, unpack_pivots);
  const Tensor none = at::empty({0}, lu.options());
  Tensor permutation = none, lower = none, upper = none;
  if (unpack_data) {
    const int64_t least = std::min(lu.size(-2), lu.size(-1));
    lower = lu.narrow(-1, 0, least).tril(-1);
    lower.diagonal(0, -2, -1).fill_(1);
    upper = lu.narrow(-2, 0, least).triu();
  }
  if (unpack_pivots) permutation = permutation_matrix(lu, pivots);
  return {permutation, lower, upper};
}

}  // namespace

DSAFUZZ_OPERATORS(dense, m) { m.impl("lu_unpack", &lu_unpack); }

}  // namespace vcuda::aten
