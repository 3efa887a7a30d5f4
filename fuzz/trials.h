// Runs cases for whoever examines them, and says what each run means: the device's own diagnosis, and where it accepts
// a case, what the CPU and the operators' contracts say. Slow cases are spread over several workers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "repro/diagnose.h"
#include "repro/executor.h"
#include "repro/reduce.h"
#include "repro/scenario.h"

namespace dsafuzz {

struct Judged {
  Diagnosis diagnosis;
  Outcome outcome;
  const Signature& signature() const { return diagnosis.signature; }
};

class Trials {
 public:
  // `cpu` may be null: the contracts are then the only second opinion. `scenarios`, by name, say what counts as a
  // finding. All outlive this.
  Trials(Executor& device, Executor* cpu, const std::map<std::string, Scenario>& scenarios)
      : device_(device), cpu_(cpu), scenarios_(scenarios) {}

  using StartExecutor = std::function<Result<std::unique_ptr<Executor>>()>;
  // Up to `jobs` cases at once on executors that `start` makes like the first, as soon as a run takes long enough to
  // repay starting one. An executor that cannot be started is done without.
  void use_more(StartExecutor start, int jobs);

  // Whether this verdict is a finding: as the case's scenario says, else is_bug().
  bool is_finding(const Case& c, Verdict verdict) const;

  // `fresh`: in a process that ran nothing before. `ask_cpu`: where the device accepts it, do the CPU and the contracts
  // too? Problem: no worker.
  Result<Judged> judge(const Case& c, bool fresh, bool ask_cpu) { return judge_on(device_, c, fresh, ask_cpu); }

  // For the reducer. After a problem the answers are empty ones; problem() says what happened.
  TryCases try_cases(bool fresh, bool ask_cpu);
  int at_once() const;
  const std::optional<Problem>& problem() const { return problem_; }

 private:
  Result<Judged> judge_on(Executor& device, const Case& c, bool fresh, bool ask_cpu);
  Result<Trial> try_on(Executor& device, const Case& c, bool fresh, bool ask_cpu);

  Executor& device_;
  Executor* cpu_;
  const std::map<std::string, Scenario>& scenarios_;
  StartExecutor start_;
  int jobs_ = 1;
  double slowest_ = 0;  // seconds of a run so far
  std::vector<std::unique_ptr<Executor>> more_;
  std::mutex cpu_mutex_;
  std::optional<Problem> problem_;
};

}  // namespace dsafuzz
