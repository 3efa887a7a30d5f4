// The cases that benchmarks run: the shipped scenarios at their default sizes.
#pragma once

#include <cstdint>
#include <string>

#include "repro/scenario.h"

namespace dsafuzz {

// scenarios/NAME.yaml; a benchmark without its scenario is of no use, so this ends the program when it cannot be read.
Scenario bench_scenario(const std::string& name);
std::string bench_scenario_file(const std::string& name);

// A case whose CPU kernel trusts its index and so reads far outside its memory: it kills the worker on any device.
Case killing_case();

// The number in an environment variable, or `usual`.
std::uint64_t bench_number(const char* variable, std::uint64_t usual);

}  // namespace dsafuzz
