// The conversions between row indices and row starts behind sparse tensors, on the virtual device. The operators take
// dense index tensors, and check their values on no device.
#include <ATen/ATen.h>
#include <ATen/ops/_convert_indices_from_coo_to_csr_meta.h>
#include <ATen/ops/_convert_indices_from_csr_to_coo_meta.h>
#include <torch/library.h>

#include "kernels/aten/registration.h"
#include "kernels/sparse/convert_indices.h"

namespace vcuda::aten {
namespace {

using at::Tensor;

// As AT_DISPATCH_INTEGRAL_TYPES under the kernel's name, for the two types that sparse tensors have.
bool is_wide(const Tensor& indices, const char* kernel) {
  if (indices.scalar_type() != at::kLong && indices.scalar_type() != at::kInt) {
    throw_no_kernel(kernel, indices.scalar_type());
  }
  return indices.scalar_type() == at::kLong;
}

// Runs `fill` on `out`, or on a contiguous stand-in for it.
template <typename Fill>
void fill_contiguous(const Tensor& out, const Fill& fill) {
  const Tensor target = out.is_contiguous() ? out : at::empty(out.sizes(), out.options());
  fill(target);
  check_after_launch();
  if (!target.is_same(out)) out.copy_(target);
}

Tensor& coo_to_csr_out(const Tensor& self, int64_t size, bool out_int32, Tensor& out) {
  const c10::DeviceGuard guard(self.device());
  check_pending();
  Outputs<at::meta::structured__convert_indices_from_coo_to_csr> op(out);
  op.meta(self, size, out_int32);
  kernels::IndexTypes types;
  types.wide_in = is_wide(self, "convert_indices_from_coo_to_csr_cuda");
  types.wide_out = !out_int32;
  if (self.numel() == 0) return out.zero_();
  const Tensor in = self.contiguous();
  fill_contiguous(out, [&](const Tensor& target) {
    kernels::rows_to_starts(types, in.const_data_ptr(), in.numel(), size, target.mutable_data_ptr(), stream_for(self));
  });
  return out;
}

Tensor coo_to_csr(const Tensor& self, int64_t size, bool out_int32) {
  Tensor out = at::empty({0}, self.options().dtype(out_int32 ? at::kInt : at::kLong));
  return coo_to_csr_out(self, size, out_int32, out);
}

// The coordinates of each batch along batch dimension `dim`, once for every element of the batch.
Tensor batch_coordinates(at::IntArrayRef batch_sizes, std::size_t dim, int64_t count, const Tensor& like) {
  const int64_t inner = c10::multiply_integers(batch_sizes.slice(dim + 1));
  const int64_t batches = c10::multiply_integers(batch_sizes);
  const Tensor numbers = at::arange(batches, like.options().device(at::kCPU));
  return numbers.div(inner, "floor").remainder(batch_sizes[dim]).repeat_interleave(count).to(like.device());
}

Tensor& csr_to_coo_out(const Tensor& crow, const Tensor& col, bool out_int32, bool transpose, Tensor& out) {
  expect_one_device("wrapper_CUDA__convert_indices_from_csr_to_coo", {{crow, "crow_indices"}, {col, "col_indices"}});
  const c10::DeviceGuard guard(crow.device());
  check_pending();
  Outputs<at::meta::structured__convert_indices_from_csr_to_coo> op(out);
  op.meta(crow, col, out_int32, transpose);
  kernels::IndexTypes types;
  types.wide_in = is_wide(crow, "convert_indices_from_csr_to_coo_cuda");
  types.wide_out = !out_int32;
  const int64_t rows = crow.size(-1) - 1;
  const int64_t count = col.size(-1);
  if (rows == 0 || count == 0 || out.numel() == 0) return out.zero_();
  const at::IntArrayRef batch_sizes = crow.sizes().slice(0, static_cast<std::size_t>(crow.dim() - 1));
  const auto batch_dims = static_cast<int64_t>(batch_sizes.size());
  for (int64_t dim = 0; dim < batch_dims; ++dim) {
    out.select(0, dim).copy_(batch_coordinates(batch_sizes, static_cast<std::size_t>(dim), count, out));
  }
  out.select(0, batch_dims + (transpose ? 0 : 1)).copy_(col.reshape({col.numel()}));
  const Tensor starts = crow.contiguous();
  fill_contiguous(out.select(0, batch_dims + (transpose ? 1 : 0)), [&](const Tensor& target) {
    kernels::starts_to_rows(types, starts.const_data_ptr(), c10::multiply_integers(batch_sizes), rows, count,
                            target.mutable_data_ptr(), stream_for(crow));
  });
  return out;
}

Tensor csr_to_coo(const Tensor& crow, const Tensor& col, bool out_int32, bool transpose) {
  Tensor out = at::empty({0}, crow.options().dtype(out_int32 ? at::kInt : at::kLong));
  return csr_to_coo_out(crow, col, out_int32, transpose, out);
}

}  // namespace

DSAFUZZ_OPERATORS(dense, m) {
  m.impl("_convert_indices_from_coo_to_csr", &coo_to_csr);
  m.impl("_convert_indices_from_coo_to_csr.out", &coo_to_csr_out);
  m.impl("_convert_indices_from_csr_to_coo", &csr_to_coo);
  m.impl("_convert_indices_from_csr_to_coo.out", &csr_to_coo_out);
}

}  // namespace vcuda::aten
