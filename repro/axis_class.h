// Axes that shrink together. A shape variable ties every axis written with it; axes given as numbers stand alone, or
// are joined here because they happen to have the same size. Shrinking keeps chosen indices along all of them at once,
// so a label stays with its row and a culprit is not cut off.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "repro/case.h"
#include "repro/kept_indices.h"

namespace dsafuzz {

// Tensors with at most this many elements are written out when a slice must not change their contents.
inline constexpr std::int64_t kWriteOutLimit = 65'536;

struct AxisClass {
  std::vector<std::string> variables;                         // shape variables, all of the same value
  std::vector<std::pair<std::size_t, std::size_t>> literals;  // (tensor, axis) whose extents are that number
  std::int64_t size = 0;
};

// Every class worth shrinking: each variable, then each literal axis alone, then for each size all variables and
// literal axes that have it together. Only sizes of 2 and more; the largest first within each group.
std::vector<AxisClass> axis_classes(const Case& c);

// The case with only the indices `keep` left along the class; keep.size() is axes.size. Contents move with
// their elements: set values are renumbered, and a tensor with other than constant contents is written out first,
// except for large ones and for random floating ones, which are drawn anew. An axis that is computed from a variable
// (`classes + 1`) takes its new size from the start. Requires: the case is valid.
Case keep_along(const Case& c, const AxisClass& axes, const KeptIndices& keep);

// True where the tensor is written out by keep_along, and by values' passes: few enough elements, and not random
// floats.
bool can_write_out(const Case& c, const TensorSpec& tensor);

// The same contents as a constant 0 with every other value set on top. Requires: can_write_out or constant contents.
TensorSpec as_set_values(const Case& c, const TensorSpec& tensor);

}  // namespace dsafuzz
