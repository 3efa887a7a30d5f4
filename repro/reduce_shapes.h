// Reduction of sizes: every shape variable with all axes tied to it, every literal axis, and axes that happen to have
// the same size.
//
// Ranks are kept: logits of [1, 1] and labels of [1] are how people know the call, and variables keep their names.
// No axis is made empty: with no classes at all every label is out of range, which is a smaller case but a worse
// explanation. A case that starts with an empty axis keeps it.
#pragma once

#include "repro/reduce_search.h"

namespace dsafuzz {

void reduce_sizes(ReduceSearch& search);

// For the sweep: every case with one index of one class left out (interchangeable ones count once).
std::vector<Case> single_size_edits(const Case& c);

}  // namespace dsafuzz
