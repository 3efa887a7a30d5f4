// What a scenario or a contract calls legal, evaluated on a case: a tensor's bounds and the elements outside.
// The mutator keeps healthy twins inside; the engine asks which runs should have failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repro/bounds.h"
#include "repro/scenario.h"

namespace dsafuzz {

// As the scenario says, with the case's sizes put in; where it says nothing, as the contract of the operator that uses
// the tensor says. Nothing when both are silent, or the extents do not evaluate.
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
  contract,     // legal by itself, but not with the others: decreasing offsets
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
// The elements outside their bounds: for each tensor the first of every value class. Where there are none, the first
// that breaks a contract all the same. Requires: c is valid.
std::vector<IllegalValue> illegal_values(const Scenario& scenario, const Case& c);

}  // namespace dsafuzz
