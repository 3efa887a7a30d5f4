// A size written as text over shape variables: `batch`, `32`, `classes + 1`, `2 * heads * width`, `batch - 1`.
// Grammar: sum of products of names and non-negative integers, `+` and `-` between products.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "repro/result.h"

namespace dsafuzz {

using Shapes = std::map<std::string, std::int64_t>;  // shape variable -> value

struct Extent {
  std::string text;  // canonical: single blanks around + and -, " * " between factors

  static Extent of(std::int64_t value) { return {std::to_string(value)}; }
  friend bool operator==(const Extent&, const Extent&) = default;
  friend auto operator<=>(const Extent&, const Extent&) = default;
};

// Problem: not in the grammar (where is empty; what names the offending text).
Result<Extent> parse_extent(std::string_view text);
// Problem: an unknown name, or overflow of int64. Negative results are allowed here (a bound may be negative).
Result<std::int64_t> evaluate(const Extent& extent, const Shapes& shapes);
// The shape variables named, in order of first appearance.
std::vector<std::string> names_in(const Extent& extent);

}  // namespace dsafuzz
