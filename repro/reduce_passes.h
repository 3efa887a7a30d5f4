// The passes of the reducer as a table: what is tried, in which order, and which single edits prove the end.
//
// The order follows what simpler.h weighs most: the program, then what it works on, then how it is written. A pass
// drives the search through large steps; its single edits are the smallest ones it knows, and the closed list of the
// final sweep is those of all passes. A new pass is a new row.
#pragma once

#include <span>
#include <vector>

#include "repro/reduce_search.h"

namespace dsafuzz {

struct Pass {
  const char* name;
  const char* leaves_out;  // for people: "operators, and models with them"
  // Worth trying on a bug that shows less than three times in ten, where every refusal takes many runs.
  bool coarse;
  void (*run)(ReduceSearch&);
  // Single edits of a case; `recorded` is what its steps produced. Not all need be well-formed or simpler.
  std::vector<Case> (*edits)(const Case& c, const std::vector<ResultTensor>& recorded);
};

std::span<const Pass> passes();

}  // namespace dsafuzz
