// A file that is a scenario, which stands for its default case, or a case: told apart by the first key.
#pragma once

#include <optional>
#include <string>

#include "repro/scenario.h"

namespace dsafuzz {

struct ScenarioOrCase {
  std::optional<Scenario> scenario;
  Case the_case;
};

// Problem: the file cannot be read, or is neither.
Result<ScenarioOrCase> load_scenario_or_case(const std::string& path);

}  // namespace dsafuzz
