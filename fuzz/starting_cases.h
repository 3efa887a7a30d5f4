// Where a search begins: the cases that are put into the corpus before anything is mutated.
#pragma once

#include <string>

#include "fuzz/store.h"
#include "repro/scenario.h"

namespace dsafuzz {

// The scenario's own case (unless `from_legal`) and its healthy one.
Result<void> add_starting_cases(Store& store, const Scenario& scenario, bool from_legal);

// FOLDER/SCENARIO/*.yaml, in the order of their names; none if there is no such folder. Problem (input): a case that
// cannot be read, or is no variant of the scenario.
Result<void> add_seeds(Store& store, const Scenario& scenario, const std::string& folder);

}  // namespace dsafuzz
