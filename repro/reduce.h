// Reduction: the smallest case (simpler.h) that still shows the same bug. Works on the case's structure: a step, a
// shape variable with every axis tied to it, a value, an attribute; never on bytes or text. What it tries is the table
// of passes in reduce_passes.h.
//
// Deterministic: the same start and the same answers give the same result, however many candidates run at once.
// Answers are cached by case id.
#pragma once

#include <functional>
#include <optional>
#include <span>
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
// Runs the cases, which may be equal ones, and answers in their order.
using TryCases = std::function<std::vector<Trial>(std::span<const Case>)>;
using TryCase = std::function<Trial(const Case&)>;
TryCases one_by_one(TryCase try_case);

struct ReduceLimits {
  int executions = 500;
  double seconds = 300;            // measured by `clock`
  std::function<double()> clock;   // seconds from any start; empty: no time limit
  std::function<bool()> stop;      // asked before each execution; true: end with the best so far; may be empty
  int start_runs = 1;              // runs of the start that measure how often it shows; see ReduceSearch::begin
  std::function<int()> at_once;    // candidates worth running at the same time, asked before each; empty: 1
  std::function<void(int executions, const Case& best)> progress;  // before each execution; may be empty
};

struct Slip {  // another bug met on the way
  Signature signature;
  Case found;
};

// Single edits of one pass that were tried on the final case, all refused.
struct PassCount {
  std::string pass;
  int edits = 0;
  friend bool operator==(const PassCount&, const PassCount&) = default;
};

struct Reduction {
  Case minimal;
  int executions = 0;        // trials that decided something; those run ahead in vain are not counted
  int cached = 0;            // answered from the cache
  int start_shown = 0;       // of start_runs: how often the start showed the bug
  int start_runs = 0;
  int runs_for_no = 1;       // a candidate was refused after this many runs without the bug
  bool one_minimal = false;  // finished: no single edit of the closed list keeps the bug
  std::vector<PassCount> certificate;  // what the last sweep tried, by pass; the proof where one_minimal
  std::vector<Slip> slips;             // one for each signature, in order met; only bugs

  int edits_rejected() const;
};

// Problem when the start does not show `wanted`: it says what it showed instead.
Result<Reduction> reduce(const Case& start, const Signature& wanted, const TryCases& try_cases,
                         const ReduceLimits& limits);

// Checks that a case is 1-minimal: tries every single edit of the closed list, changes nothing.
struct Verification {
  bool one_minimal = false;      // every edit was tried, none showed the bug
  std::optional<Case> smaller;   // the first that did
  std::string pass;              // whose edit it was
  std::vector<PassCount> certificate;
  int executions = 0;
};
Result<Verification> verify_minimal(const Case& c, const Signature& wanted, const TryCases& try_cases,
                                    const ReduceLimits& limits);

}  // namespace dsafuzz
