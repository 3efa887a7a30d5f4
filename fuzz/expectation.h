// Does a folder of findings hold what a scenario expects?
#pragma once

#include <optional>
#include <string>

#include "repro/scenario.h"

namespace dsafuzz {

// Empty when it does. Else one sentence: what is missing, or, for a healthy twin, what should not be there.
// Looks at the findings of this scenario in OUT/findings; other findings beside the expected one are no fault.
std::optional<std::string> expectation_unmet(const Scenario& scenario, const std::string& out);

// The same for one minimal case: are its shapes and values those expected? Empty when they are.
std::optional<std::string> minimal_unmet(const Expectation& expect, const Case& minimal);

}  // namespace dsafuzz
