#include "fuzz/mutate_program.h"

#include <algorithm>
#include <array>
#include <utility>

#include "fuzz/interesting_values.h"

namespace dsafuzz {
namespace {

constexpr std::array<std::string_view, 3> kReductions{"none", "mean", "sum"};

// In a healthy twin only words and flags change: a number such as ignore_index takes part in what is legal.
void mutate_value(const Scenario& scenario, const Case& c, Value& value, Random& random) {
  if (auto* flag = std::get_if<bool>(&value.v)) {
    *flag = !*flag;
  } else if (auto* name = std::get_if<Name>(&value.v)) {
    if (std::ranges::find(kReductions, name->text) != kReductions.end()) name->text = random.pick(kReductions);
  } else if (scenario.only_legal) {
    return;
  } else if (auto* integer = std::get_if<std::int64_t>(&value.v)) {
    static constexpr std::array<std::int64_t, 6> kSmall{-2, -1, 0, 1, 2, 3};
    std::optional<Bounds> bounds;
    if (!scenario.legal.empty()) {
      const auto chosen = std::next(scenario.legal.begin(), static_cast<long>(random.below(scenario.legal.size())));
      bounds = bounds_of(scenario, c, chosen->first);
    }
    *integer = random.one_in(2) ? random.pick(kSmall) : interesting_integer(bounds, random);
  } else if (auto* real = std::get_if<double>(&value.v)) {
    *real = interesting_float(std::nullopt, random);
  } else if (auto* list = std::get_if<List>(&value.v); list && !list->empty()) {
    mutate_value(scenario, c, random.pick(*list), random);
  }
}

}  // namespace

void mutate_shape(const Scenario& scenario, Case& c, Random& random) {
  const std::string& name = random.pick(scenario.vary.shapes);
  const auto range = scenario.ranges.find(name);
  const auto size = c.shapes.find(name);
  const auto usual = scenario.base.shapes.find(name);
  if (range == scenario.ranges.end() || size == c.shapes.end() || usual == scenario.base.shapes.end()) return;
  if (range->second.least > range->second.most) return;
  size->second = interesting_size(range->second.least, range->second.most, usual->second, random);
}

void mutate_dtype(const Scenario& scenario, Case& c, Random& random) {
  const std::string& name = random.pick(scenario.vary.dtypes);
  const auto choices = scenario.dtypes.find(name);
  TensorSpec* tensor = c.find_tensor(name);
  if (tensor && choices != scenario.dtypes.end() && !choices->second.empty())
    tensor->dtype = random.pick(choices->second);
}

void mutate_layout(const Scenario& scenario, Case& c, Random& random) {
  if (TensorSpec* tensor = c.find_tensor(random.pick(scenario.vary.layouts))) tensor->layout = random.pick(kLayouts);
}

void mutate_precision(const Scenario& scenario, Case& c, Random& random) {
  if (!scenario.precisions.empty()) c.precision = random.pick(scenario.precisions);
}

void mutate_phase(const Scenario& scenario, Case& c, Random& random) {
  if (!scenario.phases.empty()) c.phase = random.pick(scenario.phases);
}

void mutate_attribute(const Scenario& scenario, Case& c, Random& random) {
  const auto& [result, name] = random.pick(scenario.vary.attributes);
  if (Value* value = find_attribute(c, result, name)) mutate_value(scenario, c, *value, random);
}

const Value* find_attribute(const Case& c, const std::string& result, const std::string& name) {
  for (const Step& step : c.steps) {
    if (step.results.empty() || step.results.front() != result) continue;
    for (const Argument& argument : step.arguments) {
      if (argument.name == name) return &argument.value;
    }
  }
  return nullptr;
}

Value* find_attribute(Case& c, const std::string& result, const std::string& name) {
  return const_cast<Value*>(find_attribute(std::as_const(c), result, name));
}

}  // namespace dsafuzz
