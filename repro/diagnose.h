// From facts to a judgement: reads an outcome's error and log and says what kind of failure it is and which bug.
// Pure: no file, clock or process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "repro/finding.h"

namespace dsafuzz {

struct Diagnosis {
  Signature signature;                 // its verdict is the verdict
  std::vector<std::string> evidence;   // verbatim, at most 20 lines
  std::optional<Frame> earliest_frame;
};

// `c` is the case that ran (its steps name the operator); `outcome` is what happened.
// A first fault decides; sticky errors after it are echoes.
Diagnosis diagnose(const Case& c, const Outcome& outcome);

// For `silent`: the device accepted what the CPU refused. Requires: device returned, cpu threw.
Diagnosis diagnose_silent(const Case& c, const Outcome& device, const Outcome& cpu);

// Two sentences for a person, and a guard, from the diagnosis and the case's values: which tensor, which element, what
// would be legal.
Advice advise(const Case& c, const Diagnosis& diagnosis);

// What an outcome says in one line: "raises IndexError: Target 5 is out of bounds." or "returns".
std::string opinion(const Outcome& outcome);

}  // namespace dsafuzz
