// What a scenario calls legal, evaluated on a case: the bounds of a tensor and the elements that lie outside.
// The mutator keeps healthy twins inside; the engine asks which runs should have failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repro/scenario.h"

namespace dsafuzz {

// A tensor's legal values with the case's sizes put in: [from, to) or one of `also`; [real_from, real_to] if real.
struct Bounds {
  std::int64_t from = 0, to = 0;
  std::vector<std::int64_t> also;
  bool real = false;
  double real_from = 0, real_to = 0;

  bool contain(const Number& value) const;  // NaN is in no interval
};
// Nothing when the scenario says nothing about the tensor, or its extents do not evaluate.
std::optional<Bounds> bounds_of(const Scenario& scenario, const Case& c, std::string_view tensor);

// Values that fail in one way, coarse enough to be counted: one suspect for each.
enum class ValueClass : std::uint8_t {
  nan,
  infinite,
  below,  // under the lower bound, by one
  far_below,
  at_end,  // the first value past the upper bound
  above,
  wraps_int32,  // legal once cut to 32 bits
};
std::string_view to_text(ValueClass);
// Requires: !bounds.contain(value).
ValueClass class_of(const Bounds& bounds, const Number& value);

struct IllegalValue {
  std::string tensor;
  std::int64_t index = 0;  // flat, row-major
  Number value;            // as stored: wrapped or rounded to the dtype
  ValueClass value_class = ValueClass::above;
};
// The elements outside their bounds: for each tensor the first of every value class. Requires: c is valid.
std::vector<IllegalValue> illegal_values(const Scenario& scenario, const Case& c);

// A floating value as the dtype stores it. Requires: is_floating(dtype).
double rounded_to(Dtype dtype, double value);

}  // namespace dsafuzz
