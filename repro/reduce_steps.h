// Reduction of the program: keep only the step that fails and cut its inputs into leaf tensors of the recorded dtype
// and shape; where the bug needs more than one step, leave out as many others as possible.
#pragma once

#include <optional>

#include "repro/reduce_search.h"

namespace dsafuzz {

// Offers cuts and deletions until none is accepted.
void reduce_steps(ReduceSearch& search);
// For the sweep: each step left out.
std::vector<Case> single_step_edits(const Case& c, const std::vector<ResultTensor>& recorded);

// The case with only the steps whose indices are in `kept`. Results that are still used become tensors full of zeros,
// with the dtype and shape recorded; a size is written as a shape variable where one has that value, first of all one
// used by the step's other arguments. Nothing: a needed result was not recorded.
std::optional<Case> with_steps(const Case& c, const std::vector<std::size_t>& kept,
                               const std::vector<ResultTensor>& recorded);

// Without the tensors and shape variables that nothing refers to. Does not change what runs.
Case without_unused(const Case& c);

}  // namespace dsafuzz
