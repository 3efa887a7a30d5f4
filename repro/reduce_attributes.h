// Reduction of everything that is not a size or an element: arguments to their defaults, dtypes to plainer ones,
// layouts to contiguous, one device, no precision mode, forward only, seed 0.
#pragma once

#include "repro/reduce_search.h"

namespace dsafuzz {

void reduce_modes(ReduceSearch& search);  // phase, precision, seed
void reduce_arguments(ReduceSearch& search);
void reduce_tensor_traits(ReduceSearch& search);  // dtype, layout, device, parameter

// For the sweep.
std::vector<Case> single_mode_edits(const Case& c);
std::vector<Case> single_argument_edits(const Case& c);
std::vector<Case> single_trait_edits(const Case& c);

}  // namespace dsafuzz
