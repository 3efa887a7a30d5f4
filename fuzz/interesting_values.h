// Values that break things: bounds and their neighbours, the limits of integer widths, numbers that only look legal
// once cut to 32 bits, and the corners of floating point.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fuzz/legal_values.h"
#include "fuzz/random.h"

namespace dsafuzz {

// An integer for a tensor or attribute, not yet wrapped to a dtype. Bounds come first in weight; without bounds [0, 1)
// stands for them.
std::int64_t interesting_integer(const std::optional<Bounds>& bounds, Random& random);

// A float: special values, or just outside the bounds, or an ordinary number.
double interesting_float(const std::optional<Bounds>& bounds, Random& random);

// A value inside the bounds that the dtype stores unchanged; nothing if there is none.
std::optional<Number> legal_value(const Bounds& bounds, Dtype dtype, Random& random);

// A size in [least, most]: 0, 1, 2, `usual`, the edges of thread blocks, the ends of the range, or any, small ones
// more often. Requires: least <= most.
std::int64_t interesting_size(std::int64_t least, std::int64_t most, std::int64_t usual, Random& random);

}  // namespace dsafuzz
