// Changes to one tensor's contents: single elements, several, or the fill under them.
#pragma once

#include "fuzz/random.h"
#include "repro/scenario.h"

namespace dsafuzz {

// Changes the values of `tensor`, a tensor of `c`, whose contents may vary. Does nothing to an empty tensor, and in a
// healthy twin nothing to integers without a legal range.
void mutate_values(const Scenario& scenario, Case& c, TensorSpec& tensor, Random& random);

// Replaces what is illegal in a healthy twin: elements set on top, or the fill. False if the tensor stays illegal.
bool make_legal(const Scenario& scenario, Case& c, TensorSpec& tensor, Random& random);

}  // namespace dsafuzz
