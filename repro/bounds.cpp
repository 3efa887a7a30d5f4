#include "repro/bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "repro/fill.h"

namespace dsafuzz {
namespace {

// A float's upper half, rounded to nearest, ties to even; the compiler's own type needs a runtime function that not
// every system has.
float to_bfloat16(float value) {
  if (std::isnan(value)) return value;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
}

// True when the fill alone can hold nothing illegal.
bool fill_is_legal(const Case& c, const TensorSpec& tensor, const Bounds& bounds) {
  if (tensor.fill.kind == Fill::Kind::constant) return bounds.contain(stored(c, tensor, tensor.fill.constant));
  if (tensor.fill.kind != Fill::Kind::randint || is_floating(tensor.dtype) || bounds.real) return false;
  const auto from = evaluate(tensor.fill.from, c.shapes), to = evaluate(tensor.fill.to, c.shapes);
  return from && to && *from < *to && *from >= bounds.from && *to <= bounds.to && *from >= least_of(tensor.dtype) &&
         *to - 1 <= greatest_of(tensor.dtype);
}

}  // namespace

bool Bounds::contain(const Number& value) const {
  if (nonzero) return as_double(value) != 0;
  if (real) {
    const double v = as_double(value);
    return v >= real_from && v <= real_to;
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return (*integer >= from && *integer < to) || std::ranges::find(also, *integer) != also.end();
  }
  const double v = std::get<double>(value);
  return (v >= static_cast<double>(from) && v < static_cast<double>(to)) ||
         std::ranges::any_of(also, [&](std::int64_t a) { return static_cast<double>(a) == v; });
}

double rounded_to(Dtype dtype, double value) {
  switch (dtype) {
    case Dtype::float32: return static_cast<float>(value);
    case Dtype::float16: return static_cast<double>(static_cast<_Float16>(value));
    case Dtype::bfloat16: return to_bfloat16(static_cast<float>(value));
    case Dtype::float64:
    case Dtype::int64:
    case Dtype::int32:
    case Dtype::int16:
    case Dtype::int8:
    case Dtype::uint8:
    case Dtype::boolean: return value;
  }
  return value;
}

Dtype stored_dtype(const Case& c, const TensorSpec& tensor) {
  if (tensor.dtype != Dtype::float32) return tensor.dtype;
  switch (c.precision) {
    case Precision::half: return Dtype::float16;
    case Precision::bfloat16: return Dtype::bfloat16;
    case Precision::none:
    case Precision::autocast_float16:
    case Precision::autocast_bfloat16: return tensor.dtype;
  }
  return tensor.dtype;
}

Number stored(const Case& c, const TensorSpec& tensor, const Number& value) {
  if (is_floating(tensor.dtype)) return rounded_to(stored_dtype(c, tensor), as_double(value));
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return wrap_to(tensor.dtype, *integer);
  return value;
}

std::int64_t readable_elements(const Case& c, const TensorSpec& tensor) {
  const auto shape = concrete_shape(tensor, c.shapes);
  if (!shape) return 0;
  const std::int64_t count = element_count(*shape);
  const bool repeats = tensor.layout == Layout::expanded && !shape->empty() && shape->front() > 0;
  return repeats ? count / shape->front() : count;
}

std::string element_position(const Case& c, const TensorSpec& tensor, std::int64_t flat) {
  const auto shape = concrete_shape(tensor, c.shapes);
  std::string inside;
  if (shape) {
    for (auto size = shape->rbegin(); size != shape->rend() && *size > 0; ++size) {
      inside = std::to_string(flat % *size) + (inside.empty() ? "" : ", ") + inside;
      flat /= *size;
    }
  }
  return inside.empty() ? "" : "[" + inside + "]";
}

void visit_outside(const Case& c, const TensorSpec& tensor, const Bounds& bounds,
                   const std::function<bool(std::int64_t, const Number&)>& visit) {
  const std::int64_t count = readable_elements(c, tensor);
  const auto look_at = [&](std::int64_t index, const Number& value) {
    const Number held = stored(c, tensor, value);
    return bounds.contain(held) || visit(index, held);
  };
  if (count > kSearchLimit || fill_is_legal(c, tensor, bounds)) {
    for (const auto& [index, value] : tensor.set) {
      if (index >= count || !look_at(index, value)) return;
    }
    return;
  }
  const std::vector<Number> values = first_contents(c, tensor, count);
  for (std::int64_t i = 0; i < count; ++i) {
    if (!look_at(i, values[static_cast<std::size_t>(i)])) return;
  }
}

}  // namespace dsafuzz
