// The memory of one reduction: the best case so far, every answer by case id, the limits, and the other bugs met.
// Passes only make candidates and offer them; whether a candidate is accepted is decided here and nowhere else.
//
// Candidates offered as a list may be run ahead, several at once. An answer got that way waits until its turn comes and
// is counted only then, so neither the result nor the counts depend on how many ran at once.
#pragma once

#include <map>
#include <string>

#include "repro/reduce.h"

namespace dsafuzz {

class ReduceSearch {
 public:
  // Both outlive this.
  ReduceSearch(const Signature& wanted, const TryCases& try_cases, const ReduceLimits& limits);

  // Runs the start, limits.start_runs times, and makes it the best. Where it does not always show the bug, later
  // candidates are refused only after as many runs as keep the risk of one wrong refusal among a hundred below 1 %.
  // Problem: it never shows the wanted signature; the Problem says what it showed.
  Result<void> begin(const Case& start);

  const Case& best() const { return best_; }
  const Trial& trial() const { return trial_; }  // what the best case answered

  // True: the candidate shows the wanted signature, is simpler than the best, and has become the best. Candidates
  // that are not well-formed or not simpler are refused without running; so is everything after stopped().
  bool offer(const Case& candidate);
  // Offers them in order until one is accepted; true if one was.
  bool offer_first(std::span<const Case> candidates);
  // Offers all of them in order; true if any was accepted.
  bool offer_each(std::span<const Case> candidates);

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
  int start_shown() const { return start_shown_; }
  int start_runs() const { return start_runs_; }
  double share_shown() const { return start_runs_ == 0 ? 0 : static_cast<double>(start_shown_) / start_runs_; }
  int runs_for_no() const { return runs_for_no_; }
  const std::vector<Slip>& slips() const { return slips_; }

 private:
  struct Answer {
    Trial trial;
    int runs = 0;
  };

  // The candidates from `next` on of the list being offered, to be run ahead with the one in turn.
  bool offer_with(const Case& candidate, std::span<const Case> next);
  bool worth_running(const Case& candidate) const;
  const Trial* answer(const Case& candidate, std::span<const Case> next);  // null once stopped
  void run(std::span<const Case> cases, std::span<const std::string> ids);
  bool out_of_limits();
  void note_slip(const Trial& trial, const Case& found);

  Signature wanted_;
  const TryCases& try_cases_;
  const ReduceLimits& limits_;
  double began_ = 0;
  Case best_;
  Trial trial_;
  std::map<std::string, Trial> answers_;
  std::map<std::string, Answer> ahead_;  // run before their turn
  std::vector<Slip> slips_;
  Verdict last_verdict_ = Verdict::ok;
  int executions_ = 0, cached_ = 0, rejected_ = 0, start_shown_ = 0, start_runs_ = 0, runs_for_no_ = 1;
  bool stopped_ = false;
};

// Runs without the bug after which a candidate is refused, where it shows in this share of runs: a hundred refusals are
// then all right with a probability of 99 %. 1 where it always shows.
int runs_for_no(double share);
// A share that `shown` of `runs` hardly overstates: one standard deviation less than what was measured.
double cautious_share(int shown, int runs);

}  // namespace dsafuzz
