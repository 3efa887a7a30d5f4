// _grouped_mm on the virtual device, as on a GPU of compute capability 9.0: bfloat16 goes through the kernel that
// checks the group ends on the device, everything else through a loop over ends read by the host. The products
// themselves are LibTorch's loop in both cases.
#include "kernels/matmul/grouped_mm.h"

#include <ATen/ATen.h>
#include <ATen/native/GroupedMMUtils.h>
#include <ATen/ops/_grouped_mm_native.h>
#include <torch/library.h>

#include "kernels/aten/registration.h"

namespace vcuda::aten {
namespace {

using at::Tensor;

constexpr int64_t kMostGroups = 1024;

void check_groups(const Tensor& a, const Tensor& b, const std::optional<Tensor>& offs) {
  const bool a_is_2d = a.dim() == 2, b_is_2d = b.dim() == 2;
  const Tensor ends = offs.has_value() ? offs->contiguous() : Tensor();
  const int64_t groups = ends.defined() ? ends.size(0) : a.size(0);
  TORCH_CHECK(groups < kMostGroups, "Can't process more than 1024 groups");
  if (groups == 0) return;
  const Tensor sizes = at::empty({groups, 3}, a.options().dtype(at::kInt));
  kernels::GroupedMm args;
  args.ends = ends.defined() ? static_cast<const int32_t*>(ends.const_data_ptr()) : nullptr;
  args.groups = static_cast<int32_t>(groups);
  args.m = a_is_2d && !b_is_2d ? -1 : static_cast<int32_t>(a.size(-2));
  args.n = b_is_2d && !a_is_2d ? -1 : static_cast<int32_t>(b.size(-1));
  args.k = a_is_2d && b_is_2d ? -1 : static_cast<int32_t>(a.size(-1));
  for (int64_t dim = 0; dim < 2; ++dim) {
    args.a_sizes[dim] = a.size(dim);
    args.b_sizes[dim] = b.size(dim);
  }
  args.a_row_major = a.stride(-1) == 1;
  args.b_row_major = b.stride(-1) == 1;
  args.sizes_out = sizes.mutable_data_ptr<int32_t>();
  kernels::prepare_grouped_gemm(args, stream_for(a));
  check_after_launch();
}

Tensor grouped_mm(const Tensor& a, const Tensor& b, const std::optional<Tensor>& offs,
                  const std::optional<Tensor>& bias, std::optional<at::ScalarType> out_dtype) {
  const c10::DeviceGuard guard(a.device());
  check_pending();
  at::native::_grouped_mm_validate_inputs(a, b, offs, bias, out_dtype);
  const auto type = at::native::_resolve_grouped_mm_out_dtype(a, b, out_dtype);
  Tensor out = at::native::create_grouped_gemm_output_tensor(a, b, offs, type);
  const bool on_device = a.scalar_type() == at::kBFloat16 && b.scalar_type() == at::kBFloat16;
  if (on_device) check_groups(a, b, offs);
  at::native::_grouped_mm_fallback(a, b, offs, bias, out_dtype, out);
  return out;
}

}  // namespace

DSAFUZZ_OPERATORS(dense, m) { m.impl("_grouped_mm", &grouped_mm); }

}  // namespace vcuda::aten
