// Reduction: the smallest case (simpler.h) that still shows the same bug. Works on the case's structure: a step, a
// shape variable with every axis tied to it, a value, an attribute; never on bytes or text.
//
// Deterministic: the same start and the same answers give the same result. Answers are cached by case id.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "repro/finding.h"

namespace dsafuzz {

// What a trial of a candidate answered.
struct Trial {
  Signature signature;                // with its verdict
  int step = -1;                      // where it failed (Outcome::step)
  std::vector<ResultTensor> results;  // what the steps before it produced, for cutting them into inputs
};
using TryCase = std::function<Trial(const Case&)>;

struct ReduceLimits {
  int executions = 500;
  double seconds = 300;                     // measured by `clock`
  std::function<double()> clock;            // seconds from any start; empty: no time limit
  std::function<void(int executions, const Case& best)> progress;  // after each accepted step; may be empty
};

struct Slip {  // another bug met on the way
  Signature signature;
  Case found;
};

struct Reduction {
  Case minimal;
  int executions = 0;       // trials really run
  int cached = 0;           // answered from the cache
  bool one_minimal = false; // finished: no single edit of the closed list keeps the bug
  int edits_rejected = 0;   // single edits tried in the last sweep, all refused: the certificate
  std::vector<Slip> slips;  // one for each signature, in order met; only bugs
};

// Problem when the start does not show `wanted`: it says what it showed instead.
Result<Reduction> reduce(const Case& start, const Signature& wanted, const TryCase& try_case, const ReduceLimits& limits);

}  // namespace dsafuzz
