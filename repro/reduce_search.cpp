#include "repro/reduce_search.h"

#include <algorithm>

#include "repro/simpler.h"

namespace dsafuzz {

ReduceSearch::ReduceSearch(const Signature& wanted, const TryCase& try_case, const ReduceLimits& limits)
    : wanted_(wanted), try_case_(try_case), limits_(limits), began_(limits.clock ? limits.clock() : 0) {}

Result<void> ReduceSearch::begin(const Case& start) {
  if (auto valid = validate(start); !valid) return std::unexpected(valid.error());
  best_ = start;
  const Trial* trial = answer(start);
  if (trial == nullptr) {
    return input_problem("the limits leave no time to run the start even once", "", "raise the limit");
  }
  if (trial->signature != wanted_) {
    note_slip(*trial, start);
    const std::string name = trial->signature.text();
    return input_problem("the case to reduce does not show " + std::string(to_text(wanted_.verdict)) + " " +
                             wanted_.text() + ": it showed " + std::string(to_text(trial->signature.verdict)) +
                             (name.empty() ? "" : " " + name),
                         "", "replay it to see what happens; a bug that comes and goes cannot be reduced");
  }
  trial_ = *trial;
  return {};
}

bool ReduceSearch::offer(const Case& candidate) {
  last_verdict_ = Verdict::setup_failed;
  if (stopped_ || !simpler(candidate, best_) || !validate(candidate)) return false;
  const Trial* trial = answer(candidate);
  if (trial == nullptr) return false;
  last_verdict_ = trial->signature.verdict;
  if (trial->signature != wanted_) {
    ++rejected_;
    note_slip(*trial, candidate);
    return false;
  }
  best_ = candidate;
  trial_ = *trial;
  if (limits_.progress) limits_.progress(executions_, best_);
  return true;
}

const Trial* ReduceSearch::answer(const Case& candidate) {
  const std::string id = case_id(candidate);
  if (auto known = answers_.find(id); known != answers_.end()) {
    ++cached_;
    return &known->second;
  }
  const bool late = limits_.clock && limits_.clock() - began_ >= limits_.seconds;
  if (executions_ >= limits_.executions || late) {
    stopped_ = true;
    return nullptr;
  }
  ++executions_;
  return &answers_.emplace(id, try_case_(candidate)).first->second;
}

void ReduceSearch::note_slip(const Trial& trial, const Case& found) {
  if (!is_bug(trial.signature.verdict)) return;
  const bool known = std::ranges::any_of(slips_, [&](const Slip& slip) { return slip.signature == trial.signature; });
  if (!known) slips_.push_back({trial.signature, found});
}

}  // namespace dsafuzz
