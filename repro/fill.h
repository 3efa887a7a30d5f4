// A tensor's contents as numbers: the same on every device, in the worker, the reducer and the emitted files, since
// no library's random generator is involved. Element i of a random fill is a pure function of (seed, tensor name, i).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "repro/case.h"

namespace dsafuzz {

// Writes the `count` elements of an integer (or bool) tensor, wrapped to its dtype, in row-major order.
// Requires: !is_floating(tensor.dtype), tensor is part of the valid case c, out.size() == its element count.
void fill_integers(const Case& c, const TensorSpec& tensor, std::span<std::int64_t> out);
// The same for floating dtypes, before rounding to the dtype.
void fill_floats(const Case& c, const TensorSpec& tensor, std::span<double> out);

// Both as Numbers: int64 for integer dtypes, double for floating ones. Requires: the case is valid.
std::vector<Number> contents(const Case& c, const TensorSpec& tensor);
// The first `count` of them, which take no more memory than they need. Requires: the tensor has as many.
std::vector<Number> first_contents(const Case& c, const TensorSpec& tensor, std::int64_t count);

// The same tensor with its contents written out (fill literal, nothing set). Requires: at least one element.
TensorSpec with_literal_contents(const Case& c, const TensorSpec& tensor);

}  // namespace dsafuzz
