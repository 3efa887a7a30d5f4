// An interval of legal values for a tensor's elements, and the elements that lie outside. A scenario states one, or an
// operator's contract implies one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "repro/case.h"

namespace dsafuzz {

// [from, to) or one of `also`; [real_from, real_to] if real; any number but 0 if nonzero.
struct Bounds {
  std::int64_t from = 0, to = 0;
  std::vector<std::int64_t> also;
  bool real = false;
  double real_from = 0, real_to = 0;
  bool nonzero = false;

  bool contain(const Number& value) const;  // NaN is in no interval, and is not 0
};

// A floating value as the dtype stores it. Requires: is_floating(dtype).
double rounded_to(Dtype dtype, double value);
// The dtype in which the run holds the tensor: half precision modes store float32 tensors in 16 bits.
Dtype stored_dtype(const Case& c, const TensorSpec& tensor);
// An element as that dtype holds it: wrapped or rounded.
Number stored(const Case& c, const TensorSpec& tensor, const Number& value);

// Elements that a step can read: of an expanded tensor the first slice only. 0 if the shape does not evaluate.
std::int64_t readable_elements(const Case& c, const TensorSpec& tensor);

// "[0, 3]" for the flat, row-major index of an element; empty for a tensor without dimensions.
std::string element_position(const Case& c, const TensorSpec& tensor, std::int64_t flat);

// Visits the readable elements outside the bounds, as stored, in the order of their flat index, until `visit` returns
// false. Tensors whose fill is legal as a whole are not written out; neither are those of more than kSearchLimit
// elements, of which only what the case sets singly is looked at. Requires: the case is valid.
inline constexpr std::int64_t kSearchLimit = std::int64_t{1} << 20;
void visit_outside(const Case& c, const TensorSpec& tensor, const Bounds& bounds,
                   const std::function<bool(std::int64_t index, const Number& value)>& visit);

}  // namespace dsafuzz
