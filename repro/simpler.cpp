#include "repro/simpler.h"

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "repro/case_text.h"

namespace dsafuzz {
namespace {

// How far a value is from zero, as a sum that grows slowly: 0, 1, -1, 2, -2 ... then larger magnitudes by their size;
// fractions come after whole numbers, NaN and infinities last.
double distance_from_zero(const Number& n) {
  const double d = as_double(n);
  if (std::isnan(d)) return 1e30;
  if (std::isinf(d)) return d > 0 ? 1e29 : 1.1e29;
  const double zigzag = d > 0 ? 2 * d - 1 : -2 * d;
  return std::min(zigzag, 1e28) + (d == std::trunc(d) ? 0 : 1e3);
}

bool is_zero(const Number& n) { return as_double(n) == 0; }

int fill_rank(Fill::Kind kind) {
  switch (kind) {
    case Fill::Kind::constant: return 0;
    case Fill::Kind::arange: return 1;
    case Fill::Kind::literal: return 2;
    case Fill::Kind::uniform: return 3;
    case Fill::Kind::randint: return 4;
    case Fill::Kind::randn: return 5;
  }
  std::unreachable();
}

// The order's counts, in its order; compared lexicographically.
std::vector<double> measures(const Case& c) {
  std::set<int> devices;
  double elements = 0, ranks = 0, non_zero = 0, layouts = 0, dtypes = 0, distance = 0, fills = 0, arguments = 0;
  const auto weigh = [&](const Number& n) {
    non_zero += !is_zero(n);
    distance += distance_from_zero(n);
  };
  for (const TensorSpec& t : c.tensors) {
    const auto shape = concrete_shape(t, c.shapes);
    const std::int64_t count = shape ? element_count(*shape) : kElementLimit;
    elements += static_cast<double>(count);
    ranks += static_cast<double>(t.shape.size());
    layouts += t.layout != Layout::contiguous;
    dtypes += static_cast<int>(t.dtype);
    fills += fill_rank(t.fill.kind);
    devices.insert(t.device);
    switch (t.fill.kind) {
      case Fill::Kind::constant: weigh(t.fill.constant); break;
      case Fill::Kind::literal:
        for (std::size_t i = 0; i < t.fill.literal.size() && static_cast<std::int64_t>(i) < count; ++i)
          weigh(t.fill.literal[i]);
        break;
      case Fill::Kind::arange:
      case Fill::Kind::uniform:
      case Fill::Kind::randn:
      case Fill::Kind::randint: non_zero += static_cast<double>(count); break;
    }
    for (const auto& [index, number] : t.set) weigh(number);
  }
  for (const Step& s : c.steps) arguments += static_cast<double>(s.arguments.size());
  return {static_cast<double>(c.steps.size()),
          static_cast<double>(c.tensors.size()),
          static_cast<double>(devices.size()),
          elements,
          ranks,
          non_zero,
          arguments,
          layouts,
          static_cast<double>(c.precision),
          static_cast<double>(c.phase),
          dtypes,
          distance,
          fills,
          static_cast<double>(c.seed)};
}

}  // namespace

std::strong_ordering compare_simplicity(const Case& a, const Case& b) {
  const std::vector<double> x = measures(a), y = measures(b);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] != y[i]) return x[i] < y[i] ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  const std::string s = to_yaml(a), t = to_yaml(b);
  if (s.size() != t.size()) return s.size() <=> t.size();
  return s.compare(t) <=> 0;
}

}  // namespace dsafuzz
