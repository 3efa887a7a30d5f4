#include "fuzz/mutate_tensor.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "fuzz/interesting_values.h"
#include "fuzz/legal_values.h"

namespace dsafuzz {
namespace {

constexpr std::size_t kMostSet = 64;

std::int64_t count_of(const Case& c, const TensorSpec& tensor) {
  const auto shape = concrete_shape(tensor, c.shapes);
  return shape ? element_count(*shape) : 0;
}

// The first, the last, a block's edge, or any.
std::int64_t interesting_index(std::int64_t count, Random& random) {
  static constexpr std::array<std::int64_t, 8> kEdges{0, 1, 31, 32, 255, 256, 1023, 1024};
  switch (random.below(4)) {
    case 0: return 0;
    case 1: return count - 1;
    case 2: return std::min(random.pick(kEdges), count - 1);
    default: return random.between(0, count - 1);
  }
}

// Integers without a stated range are bounded by some size of the case: that is what indices index.
std::optional<Bounds> guessed_bounds(const Case& c, Random& random) {
  if (c.shapes.empty()) return std::nullopt;
  return Bounds{.from = 0, .to = std::next(c.shapes.begin(), static_cast<long>(random.below(c.shapes.size())))->second};
}

std::optional<Number> new_value(const Scenario& scenario, const Case& c, const TensorSpec& tensor, Random& random) {
  const std::optional<Bounds> bounds = bounds_of(scenario, c, tensor.name);
  const bool floating = is_floating(tensor.dtype);
  if (scenario.only_legal) {
    if (bounds) return legal_value(*bounds, tensor.dtype, random);
    if (!floating) return std::nullopt;
    return static_cast<double>(random.between(-64, 64)) / 16;
  }
  if (floating) return interesting_float(bounds, random);
  return wrap_to(tensor.dtype, interesting_integer(bounds ? bounds : guessed_bounds(c, random), random));
}

void set_some(const Scenario& scenario, const Case& c, TensorSpec& tensor, std::int64_t count, std::uint64_t n,
              Random& random) {
  for (std::uint64_t i = 0; i < n; ++i) {
    if (const auto value = new_value(scenario, c, tensor, random)) {
      tensor.set[interesting_index(count, random)] = *value;
    }
  }
  while (tensor.set.size() > kMostSet) {
    tensor.set.erase(std::next(tensor.set.begin(), static_cast<long>(random.below(tensor.set.size()))));
  }
}

void change_set(const Scenario& scenario, const Case& c, TensorSpec& tensor, std::int64_t count, Random& random) {
  if (tensor.set.empty()) return set_some(scenario, c, tensor, count, 1, random);
  const auto chosen = std::next(tensor.set.begin(), static_cast<long>(random.below(tensor.set.size())));
  switch (random.below(4)) {
    case 0: tensor.set.erase(chosen); break;
    case 1: tensor.set.clear(); break;
    case 2: {  // the same value elsewhere
      const Number value = chosen->second;
      tensor.set.erase(chosen);
      tensor.set[interesting_index(count, random)] = value;
      break;
    }
    default:
      if (const auto value = new_value(scenario, c, tensor, random)) chosen->second = *value;
  }
}

void change_fill(const Scenario& scenario, const Case& c, TensorSpec& tensor, Random& random) {
  const TensorSpec* base = scenario.base.find_tensor(tensor.name);
  if (random.one_in(2)) tensor.set.clear();
  switch (random.below(4)) {
    case 0:
      if (base) tensor.fill = base->fill;
      break;
    case 1:
      if (const auto value = new_value(scenario, c, tensor, random)) {
        tensor.fill = Fill{.kind = Fill::Kind::constant, .constant = *value};
      }
      break;
    case 2:
      if (const auto legal = scenario.legal.find(tensor.name); legal == scenario.legal.end()) {
        const bool free = !scenario.only_legal || is_floating(tensor.dtype);
        if (free || bounds_of(scenario, c, tensor.name)) tensor.fill = Fill{.kind = Fill::Kind::arange};
      } else if (legal->second.real) {
        tensor.fill = Fill{.kind = Fill::Kind::uniform, .low = legal->second.real_from, .high = legal->second.real_to};
      } else {
        tensor.fill = Fill{.kind = Fill::Kind::randint, .from = legal->second.from, .to = legal->second.to};
      }
      break;
    default: {
      Fill literal{.kind = Fill::Kind::literal};
      for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
        if (const auto value = new_value(scenario, c, tensor, random)) literal.literal.push_back(*value);
      }
      if (!literal.literal.empty()) tensor.fill = literal;
    }
  }
}

bool is_legal(const Scenario& scenario, const Case& c, const TensorSpec& tensor) {
  return std::ranges::none_of(illegal_values(scenario, c),
                              [&](const IllegalValue& value) { return value.tensor == tensor.name; });
}

}  // namespace

void mutate_values(const Scenario& scenario, Case& c, TensorSpec& tensor, Random& random) {
  const std::int64_t count = count_of(c, tensor);
  if (count == 0) return;
  static constexpr std::array<unsigned, 5> kWeights{48, 14, 16, 17, 5};
  switch (random.weighted(kWeights)) {
    case 0: return set_some(scenario, c, tensor, count, 1, random);
    case 1: return set_some(scenario, c, tensor, count, 2 + random.below(3), random);
    case 2: return change_set(scenario, c, tensor, count, random);
    case 3: return change_fill(scenario, c, tensor, random);
    default: c.seed = random.below(1000);
  }
}

bool make_legal(const Scenario& scenario, Case& c, TensorSpec& tensor, Random& random) {
  if (is_legal(scenario, c, tensor)) return true;
  const auto bounds = bounds_of(scenario, c, tensor.name);
  if (!bounds) return false;
  for (auto& [index, value] : tensor.set) {
    if (bounds->contain(value)) continue;
    const auto legal = legal_value(*bounds, tensor.dtype, random);
    if (!legal) return false;
    value = *legal;
  }
  if (is_legal(scenario, c, tensor)) return true;
  const auto fill = [&](const Number& value) {
    tensor.fill = Fill{.kind = Fill::Kind::constant, .constant = value};
    tensor.set.clear();
    return is_legal(scenario, c, tensor);
  };
  const auto legal = legal_value(*bounds, tensor.dtype, random);
  // What is legal for one element may not be for all of them; the least often is.
  return (legal && fill(*legal)) || (!bounds->real && fill(bounds->from));
}

}  // namespace dsafuzz
