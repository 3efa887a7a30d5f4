// The contracts of operators as data: what each argument must hold, what bounds it, and where PyTorch's documentation
// says so. One row for each argument; contract.h computes with them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace dsafuzz {

enum class Rule : std::uint8_t {
  // Each element alone; `size` is what the row's Size gives.
  position,      // [0, size)
  wrapping,      // [-size, size): negative counts from the end
  label,         // [0, size), or the argument ignore_index (-100 if not given)
  padded,        // [0, size), or the argument padding_idx
  ended_labels,  // [-1, size): a row of labels may end early with -1
  one_based,     // [1, size]
  up_to,         // [0, size]
  between,       // [first, second] of two integer arguments
  probability,   // [0, 1]
  not_negative,  // >= 0, infinity allowed
  rate,          // >= 0 and finite
  positive,      // > 0
  finite,
  nonzero,  // not 0
  divisor,  // not 0, where both operands are integers
  // All together.
  weights,      // finite and >= 0, and in each row one above 0, or `size` of them
  lengths,      // >= 0 and along the last axis at most `size` in all
  counts,       // >= 0 and exactly the integer argument's number in all, if that is given
  offsets,      // the first is 0, none below the one before, the last at most `size`
  ends,         // none below the one before, the first at least 0, the last at most `size`
  starts,       // offsets of which the last is exactly `size`
  coordinates,  // row i of the tensor in [0, i-th number of an integer list)
  used_labels,  // [0, size) as far as target_lengths says that labels are read
  mask,         // not more true elements than the other tensor has elements
};

// What bounds the values: an axis of another argument's tensor, or a number.
enum class Size : std::uint8_t {
  none,
  class_axis,  // axis 1, or axis 0 of one that has no other
  first_axis,
  last_axis,
  matrix_rows,  // the axis before the last
  dim_axis,     // the axis that the argument dim names
  listed_axis,  // of the i-th tensor in a list: axis i
  own_rank,     // the axis that is the last one of the argument itself
  elements,
  last_two,  // elements of the last two axes
  last_three,
  grouped,      // the axis that is split into groups; `of` is the first operand, the second follows it
  number,       // the integer argument itself
  product,      // of the numbers in a list
  list_first,   // a number of the list
  list_second,  // as list_first
};

// When a row applies.
enum class When : std::uint8_t {
  always,
  alone,                // one positional argument only, no p, and the operator does not write in place
  not_in_place,         // normal_'s arguments stand elsewhere
  with_dim,             // the argument dim is given
  without_dim,          // it is not
  rounding,             // the argument rounding_mode is given
  without_range,        // neither min nor max is given
  with_replacement,     // the argument replacement is true
  without_replacement,  // it is not
};

struct ContractRow {
  std::string_view op;  // base name
  std::string_view argument;
  std::size_t at;  // its position in the schema
  Rule rule;
  Size size = Size::none;
  std::string_view of = {};  // the argument that `size` looks at
  std::size_t of_at = 0;
  std::string_view word = {};    // what the bound is called: "classes"
  std::string_view source = {};  // the page and the part of it
  When when = When::always;
};

// By family. AdaptiveLogSoftmaxWithLoss has none: its check is in Python, and no operator is of that name.
std::span<const ContractRow> loss_contracts();
std::span<const ContractRow> indexing_contracts();
std::span<const ContractRow> number_contracts();
std::span<const ContractRow> sparse_contracts();

// The rows of one operator, by base name.
const std::vector<const ContractRow*>& contract_rows(std::string_view op);
// All rows.
std::vector<const ContractRow*> contract_rows();

}  // namespace dsafuzz
