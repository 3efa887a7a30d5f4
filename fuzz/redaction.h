// Takes a user's data out of a case (repro/redact_case.h), by runs that show that the same bug is still there.
#pragma once

#include <functional>
#include <vector>

#include "fuzz/trials.h"
#include "repro/redact_case.h"
#include "repro/scenario.h"

namespace dsafuzz {

struct RedactionLimits {
  int executions = 200;        // for each of at most two attempts
  int tries = 1;               // of a case that did not show it, for a bug that comes and goes
  std::function<bool()> stop;  // asked between runs; may be empty. What it stopped is of no use.
};

// The case has shown `wanted` in a fresh process afterwards, unless no smaller part than all of it did.
// Problem: no worker; or a step runs a TorchScript file, whose weights are data that cannot be replaced.
Result<RedactedCase> redact(const Case& c, const Signature& wanted, Trials& trials, const RedactionLimits& limits);

// Problem as above, if the case, or the default case of one of the scenarios, has such a step.
Result<void> check_redactable(const Case& c);
Result<void> check_redactable(const std::vector<Scenario>& scenarios);

}  // namespace dsafuzz
