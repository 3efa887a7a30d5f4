#include "fuzz/trials.h"

#include <chrono>
#include <thread>

#include "repro/judge.h"

namespace dsafuzz {
namespace {

// Starting LibTorch once more takes about a second; below this, a whole reduction is over sooner.
constexpr double kSlowRun = 0.05;

}  // namespace

void Trials::use_more(StartExecutor start, int jobs) {
  start_ = std::move(start);
  jobs_ = jobs;
}

int Trials::at_once() const { return slowest_ >= kSlowRun ? jobs_ : 1; }

bool Trials::is_finding(const Case& c, Verdict verdict) const {
  const auto scenario = scenarios_.find(c.scenario);
  return scenario == scenarios_.end() ? is_bug(verdict) : scenario->second.is_finding(verdict);
}

Result<Judged> Trials::judge_on(Executor& device, const Case& c, bool fresh, bool ask_cpu) {
  Result<Outcome> outcome = fresh ? device.run_fresh(c) : device.run(c);
  if (!outcome) return std::unexpected(outcome.error());
  Judged judged{diagnose(c, *outcome), std::move(*outcome)};
  if (!ask_cpu || judged.outcome.end != Outcome::End::returned) return judged;
  if (is_finding(c, judged.signature().verdict)) return judged;
  std::optional<Outcome> second;
  if (cpu_) {
    const std::scoped_lock lock(cpu_mutex_);
    Result<Outcome> asked = cpu_->run(c);
    if (!asked) return std::unexpected(asked.error());
    second = *std::move(asked);
  }
  judged.diagnosis = dsafuzz::judge(c, judged.outcome, second ? &*second : nullptr);
  return judged;
}

Result<Trial> Trials::try_on(Executor& device, const Case& c, bool fresh, bool ask_cpu) {
  auto judged = judge_on(device, c, fresh, ask_cpu);
  if (!judged) return std::unexpected(judged.error());
  return Trial{judged->signature(), judged->outcome.step, std::move(judged->outcome.results)};
}

TryCases Trials::try_cases(bool fresh, bool ask_cpu) {
  return [this, fresh, ask_cpu](std::span<const Case> cases) {
    std::vector<Trial> out(cases.size());
    if (problem_) return out;
    while (start_ && more_.size() + 1 < cases.size()) {
      auto started = start_();
      if (!started) break;
      more_.push_back(std::move(*started));
    }
    const auto began = std::chrono::steady_clock::now();
    // Workers belong to the thread that started them, so only the waiting is done on threads of their own.
    std::vector<std::optional<Problem>> problems(cases.size());
    const auto try_one = [&](std::size_t i, Executor& device) {
      if (auto trial = try_on(device, cases[i], fresh, ask_cpu)) {
        out[i] = std::move(*trial);
      } else {
        problems[i] = trial.error();
      }
    };
    const std::size_t width = more_.size() + 1;
    for (std::size_t first = 0; first < cases.size(); first += width) {
      std::vector<std::jthread> threads;
      for (std::size_t i = first + 1; i < std::min(cases.size(), first + width); ++i) {
        threads.emplace_back(try_one, i, std::ref(*more_[i - first - 1]));
      }
      try_one(first, device_);
    }
    for (auto& problem : problems) {
      if (problem && !problem_) problem_ = std::move(problem);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    slowest_ = std::max(slowest_, took.count() / static_cast<double>(cases.size()));
    return out;
  };
}

}  // namespace dsafuzz
