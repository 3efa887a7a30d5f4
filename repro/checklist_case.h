// The items of the prevention list that a case answers without being run: the ranges of its data, the dimensions of
// what its losses take, the dtypes that its steps mix, and the guards to put in front of its operators.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "repro/bounds.h"
#include "repro/checklist.h"
#include "repro/outcome.h"

namespace dsafuzz {

// `legal`: bounds that a scenario states, by tensor; where it is silent the operators' contracts speak, and of floating
// tensors that nobody speaks of NaN and infinities are failures. Requires: the case is valid; here and below.
ChecklistItem data_ranges(const Case& c, const std::map<std::string, Bounds>& legal);

// Input against target of each loss: (N, C, d1...) against (N, d1...), or equal shapes; dtype and device too. `results`
// are those of a run, as far as it got.
ChecklistItem loss_dimensions(const Case& c, const std::vector<ResultTensor>& results);

// A line for each step that takes floating tensors of different dtypes: "loss: float16 logits, float32 weight".
std::vector<std::string> mixed_dtypes(const Case& c, const std::vector<ResultTensor>& results);

// For each argument with a contract, the line of Python that checks it, and the C++ guard (kernels/guard) if there is
// one.
ChecklistItem recommended_guards(const Case& c);

}  // namespace dsafuzz
