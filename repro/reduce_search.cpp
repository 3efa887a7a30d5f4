#include "repro/reduce_search.h"

#include <algorithm>
#include <cmath>

#include "repro/simpler.h"

namespace dsafuzz {

int runs_for_no(double share) {
  if (share >= 1) return 1;
  constexpr double kRiskOfOne = 0.01 / 100;
  return static_cast<int>(std::ceil(std::log(kRiskOfOne) / std::log1p(-std::max(share, 0.01))));
}

double cautious_share(int shown, int runs) {
  if (runs == 0) return 0;
  const double share = static_cast<double>(shown) / runs;
  return share - std::sqrt(share * (1 - share) / runs);
}

ReduceSearch::ReduceSearch(const Signature& wanted, const TryCases& try_cases, const ReduceLimits& limits)
    : wanted_(wanted), try_cases_(try_cases), limits_(limits), began_(limits.clock ? limits.clock() : 0) {}

Result<void> ReduceSearch::begin(const Case& start) {
  if (auto valid = validate(start); !valid) return std::unexpected(valid.error());
  best_ = start;
  const std::string id = case_id(start);
  Trial other;
  while (start_runs_ < std::max(1, limits_.start_runs) && !out_of_limits()) {
    run({&start, 1}, {&id, 1});
    Trial trial = std::move(ahead_.extract(id).mapped().trial);
    ++executions_;
    ++start_runs_;
    if (trial.signature != wanted_) {
      other = std::move(trial);
      continue;
    }
    ++start_shown_;
    trial_ = std::move(trial);
  }
  if (start_runs_ == 0) {
    return input_problem("the limits leave no time to run the start even once", "", "raise the limit");
  }
  if (start_shown_ == 0) {
    note_slip(other, start);
    const std::string name = other.signature.text();
    return input_problem("the case to reduce does not show " + std::string(to_text(wanted_.verdict)) + " " +
                             wanted_.text() + ": it showed " + std::string(to_text(other.signature.verdict)) +
                             (name.empty() ? "" : " " + name) +
                             (start_runs_ > 1 ? " in " + std::to_string(start_runs_) + " runs" : ""),
                         "", "replay it to see what happens");
  }
  answers_[id] = trial_;
  runs_for_no_ = dsafuzz::runs_for_no(cautious_share(start_shown_, start_runs_));
  return {};
}

bool ReduceSearch::offer(const Case& candidate) { return offer_with(candidate, {}); }

bool ReduceSearch::offer_first(std::span<const Case> candidates) {
  for (std::size_t i = 0; i < candidates.size() && !stopped_; ++i) {
    if (offer_with(candidates[i], candidates.subspan(i + 1))) return true;
  }
  return false;
}

bool ReduceSearch::offer_each(std::span<const Case> candidates) {
  bool any = false;
  for (std::size_t i = 0; i < candidates.size() && !stopped_; ++i) {
    any = offer_with(candidates[i], candidates.subspan(i + 1)) || any;
  }
  return any;
}

bool ReduceSearch::worth_running(const Case& candidate) const {
  return simpler(candidate, best_) && validate(candidate).has_value();
}

bool ReduceSearch::offer_with(const Case& candidate, std::span<const Case> next) {
  last_verdict_ = Verdict::setup_failed;
  if (stopped_ || !worth_running(candidate)) return false;
  const Trial* trial = answer(candidate, next);
  if (trial == nullptr) return false;
  last_verdict_ = trial->signature.verdict;
  if (trial->signature != wanted_) {
    ++rejected_;
    note_slip(*trial, candidate);
    return false;
  }
  best_ = candidate;
  trial_ = *trial;
  return true;
}

const Trial* ReduceSearch::answer(const Case& candidate, std::span<const Case> next) {
  const std::string id = case_id(candidate);
  if (auto known = answers_.find(id); known != answers_.end()) {
    ++cached_;
    return &known->second;
  }
  if (out_of_limits()) {
    stopped_ = true;
    return nullptr;
  }
  if (!ahead_.contains(id)) {
    std::vector<Case> cases{candidate};
    std::vector<std::string> ids{id};
    const std::size_t width = static_cast<std::size_t>(std::max(1, limits_.at_once ? limits_.at_once() : 1));
    for (std::size_t i = 0; i < next.size() && cases.size() < width; ++i) {
      if (!worth_running(next[i])) continue;
      std::string next_id = case_id(next[i]);
      if (answers_.contains(next_id) || ahead_.contains(next_id) || std::ranges::find(ids, next_id) != ids.end()) continue;
      cases.push_back(next[i]);
      ids.push_back(std::move(next_id));
    }
    run(cases, ids);
  }
  Answer got = std::move(ahead_.extract(id).mapped());
  executions_ += got.runs;
  return &answers_.emplace(id, std::move(got.trial)).first->second;
}

// Runs each until it shows the bug, runs_for_no_ times at most, and keeps the answers in ahead_.
void ReduceSearch::run(std::span<const Case> cases, std::span<const std::string> ids) {
  if (limits_.progress) limits_.progress(executions_, best_);
  std::vector<Trial> first = try_cases_(cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Answer answer{i < first.size() ? std::move(first[i]) : Trial{}, 1};
    while (answer.trial.signature != wanted_ && answer.runs < runs_for_no_) {
      const int width = std::max(1, limits_.at_once ? limits_.at_once() : 1);
      const std::vector<Case> copies(static_cast<std::size_t>(std::min(width, runs_for_no_ - answer.runs)), cases[i]);
      for (Trial& trial : try_cases_(copies)) {
        if (answer.trial.signature == wanted_) break;
        answer.trial = std::move(trial);
        ++answer.runs;
      }
      if (limits_.stop && limits_.stop()) break;
    }
    ahead_[ids[i]] = std::move(answer);
  }
}

bool ReduceSearch::out_of_limits() {
  const bool late = limits_.clock && limits_.clock() - began_ >= limits_.seconds;
  return late || executions_ >= limits_.executions || (limits_.stop && limits_.stop());
}

void ReduceSearch::note_slip(const Trial& trial, const Case& found) {
  if (!is_bug(trial.signature.verdict)) return;
  const bool known = std::ranges::any_of(slips_, [&](const Slip& slip) { return slip.signature == trial.signature; });
  if (!known) slips_.push_back({trial.signature, found});
}

}  // namespace dsafuzz
