// A case under names that tell nothing: sizes n0, n1; tensors t0, t1; results r0, r1. A random fill depends on its
// tensor's name, and a word that is also an option of an operator (`mean`) may lose its sense, so whoever renames runs
// the case again.
#pragma once

#include "repro/case.h"

namespace dsafuzz {

// The scenario's name, operators, the names of arguments and quoted texts stay.
Case with_neutral_names(const Case& c);

}  // namespace dsafuzz
