// Reduction of tensor contents: which elements must differ from zero, and how far.
#pragma once

#include "repro/reduce_search.h"

namespace dsafuzz {

// Every tensor to zeros, else to as few non-zero elements as the bug needs.
void reduce_culprits(ReduceSearch& search);

// Every element that is set, towards 0, then 1, -1, the sizes of the case, and by bisection.
void reduce_magnitudes(ReduceSearch& search);

// Says contents in the plainest words (`fill: 1` rather than one set element). Runs nothing.
void reword_fills(ReduceSearch& search);
// The opposite: few elements are written as zeros with values set on top, where the passes can take hold of them.
void write_out_fills(ReduceSearch& search);

// For the sweep: each element that is set made zero, and one step nearer to zero.
std::vector<Case> single_value_edits(const Case& c);

// The next value to try instead of a number: 0 < 1 < -1, sizes of the case as bounds, then one less.
std::vector<Number> nearer_to_zero(const Case& c, const Number& number);

}  // namespace dsafuzz
