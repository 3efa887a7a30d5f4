// What "smaller" means: a total order over cases, so that reduction has one aim and its result is unique.
//
// Compared left to right, the first difference decides: steps; tensors; devices used; elements in all tensors; sum of
// ranks; explicit values that are not zero; arguments given; non-contiguous layouts; precision; phase; dtypes
// (dtype.h's order, summed); how far values are from zero (0 < 1 < -1 < 2 < -2, NaN and infinities last); fills
// (constant < arange < literal < uniform < randint < randn); seed; and last the canonical text.
// Count first, content second: fewer things to read beat plainer things; the text makes the order total.
#pragma once

#include <compare>

#include "repro/case.h"

namespace dsafuzz {

std::strong_ordering compare_simplicity(const Case& a, const Case& b);  // less: a is simpler
inline bool simpler(const Case& a, const Case& b) { return compare_simplicity(a, b) < 0; }

}  // namespace dsafuzz
