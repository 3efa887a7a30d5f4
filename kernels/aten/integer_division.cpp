// Division and remainder of integers on the virtual device: unlike the CPU, it does not notice a zero divisor. Other
// types divide on the CPU.
#include "kernels/arithmetic/integer_division.h"

#include <ATen/ATen.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/div_meta.h>
#include <ATen/ops/fmod_meta.h>
#include <ATen/ops/remainder_meta.h>
#include <torch/library.h>

#include "kernels/aten/gather_scatter.h"
#include "kernels/aten/registration.h"

namespace vcuda::aten {
namespace {

using at::Tensor;
using RoundingMode = std::optional<c10::string_view>;
using kernels::Division;

bool are_integers(const Tensor& self, const Tensor& other) {
  return at::isIntegralType(at::result_type(self, other), /*includeBool=*/false);
}

// The name ATen dispatches each form under.
const char* kernel_of(Division division) {
  switch (division) {
    case Division::trunc: return "div_trunc_cuda";
    case Division::floor: return "div_floor_cuda";
    case Division::fmod: return "fmod_cuda";
    case Division::remainder: return "remainder_cuda";
  }
  return "";
}

// A number on the CPU divides, and is divided, like a tensor on the device. Requires: `out` has the result's shape.
void launch_division(const Tensor& self, const Tensor& other, Division division, const Tensor& out) {
  if (out.numel() == 0) return;
  const at::ScalarType type = at::result_type(self, other);
  const auto options = at::TensorOptions(type).device(out.device());
  const Tensor result = out.scalar_type() == type ? out : at::empty(out.sizes(), options);
  const Tensor dividend = self.to(options), divisor = other.to(options);  // the iterator borrows them
  const at::TensorIterator iterator = iterator_over(result, dividend, divisor);
  kernels::IntegerDivision args;
  args.dtype = dtype_of(result, kernel_of(division));
  args.division = division;
  args.count = iterator.numel();
  args.out = iterator.data_ptr(0);
  args.dividend = iterator.data_ptr(1);
  args.divisor = iterator.data_ptr(2);
  args.walk = walk_of(iterator);
  kernels::integer_division(args, stream_for(out));
  check_after_launch();
  if (!result.is_same(out)) out.copy_(result);
}

template <typename Meta, typename... Args>
Tensor& divide(const Tensor& self, const Tensor& other, Division division, Tensor& out, const Args&... args) {
  const c10::DeviceGuard guard(out.device());
  Outputs<Meta> op(out);
  op.meta(self, other, args...);
  check_pending();
  launch_division(self, other, division, out);
  return out;
}

Tensor& remainder_out(const Tensor& self, const Tensor& other, Tensor& out) {
  if (!are_integers(self, other)) {
    return at::native::call_fallback_fn<&fallback, at::_ops::remainder_Tensor_out>::call(self, other, out);
  }
  return divide<at::meta::structured_remainder_Tensor>(self, other, Division::remainder, out);
}

Tensor& fmod_out(const Tensor& self, const Tensor& other, Tensor& out) {
  if (!are_integers(self, other)) {
    return at::native::call_fallback_fn<&fallback, at::_ops::fmod_Tensor_out>::call(self, other, out);
  }
  return divide<at::meta::structured_fmod_Tensor>(self, other, Division::fmod, out);
}

Tensor& div_out_mode(const Tensor& self, const Tensor& other, RoundingMode mode, Tensor& out) {
  const bool rounds = mode.has_value() && (*mode == "trunc" || *mode == "floor");
  if (!rounds || !are_integers(self, other)) {
    return at::native::call_fallback_fn<&fallback, at::_ops::div_out_mode>::call(self, other, mode, out);
  }
  const Division division = *mode == "trunc" ? Division::trunc : Division::floor;
  return divide<at::meta::structured_div_Tensor_mode>(self, other, division, out, mode);
}

Tensor floor_divide(const Tensor& self, const Tensor& other) {
  if (are_integers(self, other)) return at::div(self, other, "floor");
  return at::native::call_fallback_fn<&fallback, at::_ops::floor_divide>::call(self, other);
}

Tensor& floor_divide_out(const Tensor& self, const Tensor& other, Tensor& out) {
  if (are_integers(self, other)) return at::div_out(out, self, other, "floor");
  return at::native::call_fallback_fn<&fallback, at::_ops::floor_divide_out>::call(self, other, out);
}

Tensor& floor_divide_in_place(Tensor& self, const Tensor& other) {
  if (are_integers(self, other)) return self.div_(other, "floor");
  return at::native::call_fallback_fn<&fallback, at::_ops::floor_divide__Tensor>::call(self, other);
}

}  // namespace

// The functional and in-place forms of structured operators come with LibTorch: they call these.
DSAFUZZ_OPERATORS(dense, m) {
  m.impl("remainder.Tensor_out", &remainder_out);
  m.impl("fmod.Tensor_out", &fmod_out);
  m.impl("div.out_mode", &div_out_mode);
  m.impl("floor_divide", &floor_divide);
  m.impl("floor_divide.out", &floor_divide_out);
  m.impl("floor_divide_.Tensor", &floor_divide_in_place);
}

}  // namespace vcuda::aten
