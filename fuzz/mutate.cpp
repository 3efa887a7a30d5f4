#include "fuzz/mutate.h"

#include <algorithm>
#include <array>

#include "fuzz/legal_values.h"
#include "fuzz/mutate_program.h"
#include "fuzz/mutate_tensor.h"

namespace dsafuzz {
namespace {

bool names(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::find(list, name) != list.end();
}

std::int64_t elements_of(const Case& c) {
  std::int64_t total = 0;
  for (const TensorSpec& tensor : c.tensors) {
    const auto shape = concrete_shape(tensor, c.shapes);
    if (!shape) return INT64_MAX;
    total += element_count(*shape);
  }
  return total;
}

// The product of the sizes that may vary: an idea of the work, where elements alone say little. A linear layer's batch
// and classes are each in a small tensor, and together in a large one that no tensor of the case shows.
std::int64_t work_of(const Scenario& scenario, const Case& c) {
  std::int64_t product = 1;
  for (const std::string& name : scenario.vary.shapes) {
    const auto size = c.shapes.find(name);
    if (size != c.shapes.end() && __builtin_mul_overflow(product, std::max<std::int64_t>(1, size->second), &product))
      return INT64_MAX;
  }
  return product;
}

std::int64_t usual_work(const Scenario& scenario) { return std::max(kUsualWork, work_of(scenario, scenario.base)); }

// Sizes go back to the base's, the largest first, until the work is usual.
void make_small(const Scenario& scenario, Case& c) {
  while (work_of(scenario, c) > usual_work(scenario)) {
    std::int64_t* largest = nullptr;
    std::int64_t target = 0;
    for (const std::string& name : scenario.vary.shapes) {
      const auto size = c.shapes.find(name);
      const auto usual = scenario.base.shapes.find(name);
      if (size == c.shapes.end() || usual == scenario.base.shapes.end() || size->second <= usual->second) continue;
      if (largest && *largest >= size->second) continue;
      largest = &size->second;
      target = usual->second;
    }
    if (!largest) return;
    *largest = target;
  }
}

// Indices past the end have no meaning; dropping them keeps equal cases equal.
void drop_unused_elements(const Scenario& scenario, Case& c) {
  for (TensorSpec& tensor : c.tensors) {
    if (!names(scenario.vary.values, tensor.name)) continue;
    if (const auto shape = concrete_shape(tensor, c.shapes)) {
      tensor.set.erase(tensor.set.lower_bound(element_count(*shape)), tensor.set.end());
    }
  }
}

// The changed case if it keeps the promises of the header, else `unchanged`.
Case accepted(const Scenario& scenario, const Case& unchanged, Case changed, Random& random) {
  const std::int64_t elements = elements_of(changed);
  const bool allowed = elements <= kUsualElements || elements <= elements_of(unchanged) ||
                       (elements <= kMostElements && random.one_in(64));
  if (!allowed || !validate(changed)) return unchanged;
  const std::int64_t work = work_of(scenario, changed);
  if (work > usual_work(scenario) && work > work_of(scenario, unchanged) && !random.one_in(16)) return unchanged;
  drop_unused_elements(scenario, changed);
  if (scenario.only_legal) {
    for (const std::string& name : scenario.vary.values) {
      TensorSpec* tensor = changed.find_tensor(name);
      if (tensor && !make_legal(scenario, changed, *tensor, random)) return unchanged;
    }
    if (!illegal_values(scenario, changed).empty()) return unchanged;
  }
  return changed;
}

void change_one_thing(const Scenario& scenario, Case& c, Random& random) {
  const Variation& vary = scenario.vary;
  const auto weight = [](bool possible, unsigned w) { return possible ? w : 0u; };
  const std::array<unsigned, 7> weights{weight(!vary.values.empty(), 50), weight(!vary.shapes.empty(), 20),
                                        weight(!vary.dtypes.empty(), 8),  weight(!vary.attributes.empty(), 10),
                                        weight(vary.precision, 5),        weight(vary.phase, 4),
                                        weight(!vary.layouts.empty(), 5)};
  if (std::ranges::all_of(weights, [](unsigned w) { return w == 0; })) return;
  switch (random.weighted(weights)) {
    case 0:
      if (TensorSpec* tensor = c.find_tensor(random.pick(vary.values))) mutate_values(scenario, c, *tensor, random);
      break;
    case 1: mutate_shape(scenario, c, random); break;
    case 2: mutate_dtype(scenario, c, random); break;
    case 3: mutate_attribute(scenario, c, random); break;
    case 4: mutate_precision(scenario, c, random); break;
    case 5: mutate_phase(scenario, c, random); break;
    default: mutate_layout(scenario, c, random);
  }
}

// `c` with everything that may vary put back to the base: equal to the base exactly if nothing else differs.
Case without_variation(const Scenario& scenario, Case c) {
  const Case& base = scenario.base;
  const Variation& vary = scenario.vary;
  if (!vary.values.empty()) c.seed = base.seed;
  if (vary.precision) c.precision = base.precision;
  if (vary.phase) c.phase = base.phase;
  for (const std::string& name : vary.shapes) {
    const auto size = c.shapes.find(name);
    const auto usual = base.shapes.find(name);
    if (size != c.shapes.end() && usual != base.shapes.end()) size->second = usual->second;
  }
  for (TensorSpec& tensor : c.tensors) {
    const TensorSpec* usual = base.find_tensor(tensor.name);
    if (!usual) continue;
    if (names(vary.values, tensor.name)) {
      tensor.fill = usual->fill;
      tensor.set = usual->set;
    }
    if (names(vary.dtypes, tensor.name)) tensor.dtype = usual->dtype;
    if (names(vary.layouts, tensor.name)) tensor.layout = usual->layout;
  }
  for (const auto& [result, name] : vary.attributes) {
    Value* value = find_attribute(c, result, name);
    const Value* usual = find_attribute(base, result, name);
    if (value && usual) *value = *usual;
  }
  return c;
}

}  // namespace

bool belongs(const Scenario& scenario, const Case& c) {
  if (!validate(c)) return false;
  if (without_variation(scenario, c) != scenario.base) return false;
  for (const auto& [name, range] : scenario.ranges) {
    const auto size = c.shapes.find(name);
    if (size != c.shapes.end() && (size->second < range.least || size->second > range.most)) return false;
  }
  return elements_of(c) <= std::max(kMostElements, elements_of(scenario.base)) &&
         (!scenario.only_legal || illegal_values(scenario, c).empty());
}

std::optional<Case> healthy_base(const Scenario& scenario) {
  Case c = scenario.base;
  Random random(0);
  for (const std::string& name : scenario.vary.values) {
    TensorSpec* tensor = c.find_tensor(name);
    if (tensor && !make_legal(scenario, c, *tensor, random)) return std::nullopt;
  }
  if (!illegal_values(scenario, c).empty() || !belongs(scenario, c)) return std::nullopt;
  return c;
}

Case mutate(const Scenario& scenario, const Case& c, Random& random) {
  const Case start = belongs(scenario, c) ? c : scenario.base;
  Case changed = start;
  // A large case that was worth keeping is tried at its size now and then only, or its descendants would take most of
  // the time.
  if (work_of(scenario, start) > usual_work(scenario) && !random.one_in(8)) {
    make_small(scenario, changed);
    changed = accepted(scenario, start, std::move(changed), random);
  }
  // One change in most cases; two thirds of the rest have two, and so on. An unchanged case gets a few more tries.
  int changes = 1;
  while (changes < 6 && random.one_in(3)) ++changes;
  for (int tries = 0; tries < 4; ++tries) {
    for (int i = 0; i < changes; ++i) {
      Case next = changed;
      change_one_thing(scenario, next, random);
      changed = accepted(scenario, changed, std::move(next), random);
    }
    if (changed != start) break;
  }
  return changed;
}

Case crossover(const Scenario& scenario, const Case& a, const Case& b, Random& random) {
  const Case start = belongs(scenario, a) ? a : scenario.base;
  if (!belongs(scenario, b)) return start;
  Case child = start;
  const auto from_b = [&] { return random.one_in(2); };
  if (!scenario.vary.values.empty() && from_b()) child.seed = b.seed;
  if (scenario.vary.precision && from_b()) child.precision = b.precision;
  if (scenario.vary.phase && from_b()) child.phase = b.phase;
  for (const std::string& name : scenario.vary.shapes) {
    if (const auto size = b.shapes.find(name); size != b.shapes.end() && from_b()) child.shapes[name] = size->second;
  }
  for (TensorSpec& tensor : child.tensors) {
    const TensorSpec* other = b.find_tensor(tensor.name);
    if (!other) continue;
    if (names(scenario.vary.values, tensor.name) && from_b()) {
      tensor.fill = other->fill;
      tensor.set = other->set;
    }
    if (names(scenario.vary.dtypes, tensor.name) && from_b()) tensor.dtype = other->dtype;
    if (names(scenario.vary.layouts, tensor.name) && from_b()) tensor.layout = other->layout;
  }
  for (const auto& [result, name] : scenario.vary.attributes) {
    Value* value = find_attribute(child, result, name);
    const Value* other = find_attribute(b, result, name);
    if (value && other && from_b()) *value = *other;
  }
  return accepted(scenario, start, std::move(child), random);
}

}  // namespace dsafuzz
