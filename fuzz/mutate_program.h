// Changes to everything of a case but its values: sizes, dtypes, layouts, precision, phase and attributes.
#pragma once

#include "fuzz/random.h"
#include "repro/scenario.h"

namespace dsafuzz {

// Each changes one thing named in scenario.vary, chosen by `random`. Requires: scenario.vary names one.
void mutate_shape(const Scenario& scenario, Case& c, Random& random);
void mutate_dtype(const Scenario& scenario, Case& c, Random& random);
void mutate_layout(const Scenario& scenario, Case& c, Random& random);
void mutate_precision(const Scenario& scenario, Case& c, Random& random);
void mutate_phase(const Scenario& scenario, Case& c, Random& random);
void mutate_attribute(const Scenario& scenario, Case& c, Random& random);

// The value of the argument `name` of the step whose first result is `result`; null if there is none.
Value* find_attribute(Case& c, const std::string& result, const std::string& name);
const Value* find_attribute(const Case& c, const std::string& result, const std::string& name);

}  // namespace dsafuzz
