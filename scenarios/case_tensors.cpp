#include "scenarios/case_tensors.h"

#include <cstring>

#include "repro/fill.h"
#include "scenarios/operator_call.h"

namespace dsafuzz {
namespace {

// Values in a host tensor of the case's 64-bit kinds, then converted once: the conversion is LibTorch's own.
at::Tensor host_values(const Case& c, const TensorSpec& spec, const std::vector<std::int64_t>& shape) {
  const at::ScalarType dtype = to_scalar_type(stored_dtype(spec.dtype, c.precision));
  // A constant needs no element by element work: most tensors of a reduced case are constants.
  if (spec.fill.kind == Fill::Kind::constant && spec.set.empty()) {
    if (const auto* whole = std::get_if<std::int64_t>(&spec.fill.constant)) {
      const std::int64_t value = is_floating(spec.dtype) ? *whole : wrap_to(spec.dtype, *whole);
      return at::full(shape, value, dtype);
    }
    if (is_floating(spec.dtype)) return at::full(shape, std::get<double>(spec.fill.constant), dtype);
  }
  const std::size_t count = static_cast<std::size_t>(element_count(shape));
  if (is_floating(spec.dtype)) {
    at::Tensor wide = at::empty(shape, at::kDouble);
    fill_floats(c, spec, {wide.data_ptr<double>(), count});
    return wide.to(dtype);
  }
  at::Tensor wide = at::empty(shape, at::kLong);
  fill_integers(c, spec, {wide.data_ptr<std::int64_t>(), count});
  return wide.to(dtype);
}

}  // namespace

Dtype stored_dtype(Dtype declared, Precision precision) {
  if (declared != Dtype::float32) return declared;
  if (precision == Precision::half) return Dtype::float16;
  if (precision == Precision::bfloat16) return Dtype::bfloat16;
  return declared;
}

at::Tensor make_tensor(const Case& c, const TensorSpec& spec, c10::Device device) {
  if (spec.device != 0)
    device.set_index(static_cast<c10::DeviceIndex>(device.has_index() ? device.index() + spec.device : spec.device));
  const auto shape = concrete_shape(spec, c.shapes);
  TORCH_CHECK(shape, shape ? "" : shape.error().text());
  if (spec.layout == Layout::expanded && !shape->empty() && shape->front() > 0) {
    // Element i of a fill does not depend on what follows it, so one slice is made alone: the tensor may be huge.
    auto slice = *shape;
    slice.front() = 1;
    return host_values(c, spec, slice).to(device).expand(*shape);
  }
  const at::Tensor values = host_values(c, spec, *shape);
  switch (spec.layout) {
    case Layout::contiguous: return device.is_cpu() ? values : values.to(device);
    case Layout::transposed:
      if (values.dim() < 2) return values.to(device);
      return values.transpose(-1, -2).contiguous().to(device).transpose(-1, -2);
    case Layout::expanded: return values.to(device);  // without a slice to repeat
    case Layout::offset: {
      at::Tensor larger = at::zeros({values.numel() + 1}, values.options());
      larger.narrow(0, 1, values.numel()).copy_(values.reshape({-1}));
      return larger.to(device).narrow(0, 1, values.numel()).view(values.sizes());
    }
  }
  std::unreachable();
}

}  // namespace dsafuzz
