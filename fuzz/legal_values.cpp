#include "fuzz/legal_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "repro/fill.h"

namespace dsafuzz {
namespace {

// True when the fill alone can hold nothing illegal, so that only the elements set on top need a look. It spares the
// writing-out of large healthy tensors.
bool fill_is_legal(const TensorSpec& tensor, const Shapes& shapes, const Bounds& bounds) {
  if (tensor.fill.kind == Fill::Kind::constant) {
    const Number& value = tensor.fill.constant;
    if (is_floating(tensor.dtype)) return bounds.contain(rounded_to(tensor.dtype, as_double(value)));
    const auto* integer = std::get_if<std::int64_t>(&value);
    return integer && bounds.contain(wrap_to(tensor.dtype, *integer));
  }
  if (tensor.fill.kind != Fill::Kind::randint || is_floating(tensor.dtype) || bounds.real) return false;
  const auto from = evaluate(tensor.fill.from, shapes), to = evaluate(tensor.fill.to, shapes);
  return from && to && *from < *to && *from >= bounds.from && *to <= bounds.to && *from >= least_of(tensor.dtype) &&
         *to - 1 <= greatest_of(tensor.dtype);
}

// A float's upper half, rounded to nearest, ties to even; the compiler's own type needs a runtime function that not
// every system has.
float to_bfloat16(float value) {
  if (std::isnan(value)) return value;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
}

Number stored(const TensorSpec& tensor, const Number& value) {
  if (is_floating(tensor.dtype)) return rounded_to(tensor.dtype, as_double(value));
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return wrap_to(tensor.dtype, *integer);
  return value;
}

}  // namespace

bool Bounds::contain(const Number& value) const {
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

std::optional<Bounds> bounds_of(const Scenario& scenario, const Case& c, std::string_view tensor) {
  const auto found = scenario.legal.find(std::string(tensor));
  if (found == scenario.legal.end()) return std::nullopt;
  const LegalValues& legal = found->second;
  if (legal.real) return Bounds{.real = true, .real_from = legal.real_from, .real_to = legal.real_to};
  const auto from = evaluate(legal.from, c.shapes), to = evaluate(legal.to, c.shapes);
  if (!from || !to) return std::nullopt;
  return Bounds{.from = *from, .to = *to, .also = legal.also};
}

std::string_view to_text(ValueClass value_class) {
  switch (value_class) {
    case ValueClass::nan: return "nan";
    case ValueClass::infinite: return "infinite";
    case ValueClass::below: return "below";
    case ValueClass::far_below: return "far below";
    case ValueClass::at_end: return "at the end";
    case ValueClass::above: return "above";
    case ValueClass::wraps_int32: return "legal in 32 bits";
  }
  return "";
}

ValueClass class_of(const Bounds& bounds, const Number& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value); integer && !bounds.real) {
    if (*integer == bounds.to) return ValueClass::at_end;
    if (*integer == bounds.from - 1) return ValueClass::below;
    const auto cut = static_cast<std::int64_t>(static_cast<std::int32_t>(*integer));
    if (cut != *integer && bounds.contain(cut)) return ValueClass::wraps_int32;
    return *integer < bounds.from ? ValueClass::far_below : ValueClass::above;
  }
  const double v = as_double(value);
  if (std::isnan(v)) return ValueClass::nan;
  if (std::isinf(v)) return ValueClass::infinite;
  const double from = bounds.real ? bounds.real_from : static_cast<double>(bounds.from);
  const double to = bounds.real ? bounds.real_to : static_cast<double>(bounds.to);
  if (v < from) return v >= from - 1 ? ValueClass::below : ValueClass::far_below;
  return v < to + 1 ? ValueClass::at_end : ValueClass::above;
}

std::vector<IllegalValue> illegal_values(const Scenario& scenario, const Case& c) {
  std::vector<IllegalValue> result;
  for (const auto& [name, legal] : scenario.legal) {
    const TensorSpec* tensor = c.find_tensor(name);
    const auto bounds = bounds_of(scenario, c, name);
    if (!tensor || !bounds) continue;
    std::set<ValueClass> seen;
    const auto look_at = [&](std::int64_t index, const Number& value) {
      if (bounds->contain(value)) return;
      const ValueClass value_class = class_of(*bounds, value);
      if (seen.insert(value_class).second) result.push_back({name, index, value, value_class});
    };
    const auto shape = concrete_shape(*tensor, c.shapes);
    std::int64_t count = shape ? element_count(*shape) : 0;
    // An expanded tensor is its first slice, over and over: what stands behind it is never read.
    if (tensor->layout == Layout::expanded && shape && !shape->empty() && shape->front() > 0) count /= shape->front();
    if (fill_is_legal(*tensor, c.shapes, *bounds)) {
      for (const auto& [index, value] : tensor->set) {
        if (index < count) look_at(index, stored(*tensor, value));
      }
      continue;
    }
    const std::vector<Number> values = contents(c, *tensor);
    for (std::int64_t i = 0; i < count; ++i) look_at(i, stored(*tensor, values[static_cast<std::size_t>(i)]));
  }
  return result;
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

}  // namespace dsafuzz
