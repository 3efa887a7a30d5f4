// The memory of one reduction: the best case so far, every answer by case id, the limits, and the other bugs met.
// Passes only make candidates and offer them; whether a candidate is accepted is decided here and nowhere else.
#pragma once

#include <map>
#include <string>

#include "repro/reduce.h"

namespace dsafuzz {

class ReduceSearch {
 public:
  ReduceSearch(const Signature& wanted, const TryCase& try_case, const ReduceLimits& limits);

  // Runs the start and makes it the best. Problem: it does not show the wanted signature.
  Result<void> begin(const Case& start);

  const Case& best() const { return best_; }
  const Trial& trial() const { return trial_; }  // what the best case answered

  // True: the candidate shows the wanted signature, is simpler than the best, and has become the best. Candidates
  // that are not well-formed or not simpler are refused without running; so is everything after stopped().
  bool offer(const Case& candidate);

  // What the last candidate offered showed: only meaningful directly after offer() returned false.
  Verdict last_verdict() const { return last_verdict_; }

  // The same contents in other words (a fill written out, an unused variable left out): nothing is run, and the new
  // wording need not be simpler. Requires: both cases give the device the same work.
  void restate(const Case& same) { best_ = same; }

  // A limit was reached: from now on every offer is refused.
  bool stopped() const { return stopped_; }

  // Offers refused since the last call of reset_rejected() that were well-formed and simpler: real edits, really tried.
  int rejected() const { return rejected_; }
  void reset_rejected() { rejected_ = 0; }

  int executions() const { return executions_; }
  int cached() const { return cached_; }
  const std::vector<Slip>& slips() const { return slips_; }

 private:
  const Trial* answer(const Case& candidate);  // null once stopped
  void note_slip(const Trial& trial, const Case& found);

  Signature wanted_;
  const TryCase& try_case_;
  const ReduceLimits& limits_;
  double began_ = 0;
  Case best_;
  Trial trial_;
  std::map<std::string, Trial> answers_;
  std::vector<Slip> slips_;
  Verdict last_verdict_ = Verdict::ok;
  int executions_ = 0, cached_ = 0, rejected_ = 0;
  bool stopped_ = false;
};

}  // namespace dsafuzz
