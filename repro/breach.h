// The first contract that a case's values break.
#pragma once

#include <optional>
#include <string>

#include "repro/contract.h"

namespace dsafuzz {

struct Breach {
  ContractUse use;
  std::string rule;        // "not in [0, classes)", "decreases"
  std::int64_t index = 0;  // of the element that breaks it, flat
  Number element = std::int64_t{0};
  std::string value;     // the element as text, or what all add up to
  bool outside = false;  // the element is illegal by itself

  std::string condition() const;  // "target: not in [0, classes)"
  std::string text() const;       // one line for a person, with the element and the source
};

// In the order of the steps, and within a step of the table. Nothing where the sizes or values that decide are
// unknown. Requires: the case is valid.
std::optional<Breach> first_breach(const Case& c);

// The same for each argument that breaks its contract.
std::vector<Breach> breaches(const Case& c);

}  // namespace dsafuzz
