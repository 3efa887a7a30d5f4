#include "fuzz/legal_values.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "repro/breach.h"

namespace dsafuzz {

std::optional<Bounds> bounds_of(const Scenario& scenario, const Case& c, std::string_view tensor) {
  const auto found = scenario.legal.find(std::string(tensor));
  if (found == scenario.legal.end()) return contract_bounds(c, tensor);
  const LegalValues& legal = found->second;
  if (legal.real) return Bounds{.also = {}, .real = true, .real_from = legal.real_from, .real_to = legal.real_to};
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
    case ValueClass::contract: return "against the contract";
  }
  return "";
}

ValueClass class_of(const Bounds& bounds, const Number& value) {
  if (bounds.nonzero) return ValueClass::below;
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
    visit_outside(c, *tensor, *bounds, [&](std::int64_t index, const Number& value) {
      const ValueClass value_class = class_of(*bounds, value);
      if (seen.insert(value_class).second) result.push_back({name, index, value, value_class});
      return true;
    });
  }
  if (!result.empty()) return result;
  for (const Breach& breach : breaches(c)) {
    if (!breach.use.tensor) continue;
    const std::string& name = breach.use.tensor->name;
    if (std::ranges::find(result, name, &IllegalValue::tensor) != result.end()) continue;
    const bool alone = breach.outside && !scenario.legal.contains(name);
    result.push_back({name, breach.index, breach.element,
                      alone ? class_of(breach.use.bounds, breach.element) : ValueClass::contract});
  }
  return result;
}

}  // namespace dsafuzz
