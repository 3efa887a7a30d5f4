// What the reducers of reduce_peers may not go to.
#pragma once

#include <algorithm>

#include "repro/case.h"

namespace dsafuzz {

// Requires: the case is valid.
inline bool has_empty_tensor(const Case& c) {
  return std::ranges::any_of(
      c.tensors, [&](const TensorSpec& tensor) { return element_count(*concrete_shape(tensor, c.shapes)) == 0; });
}

}  // namespace dsafuzz
