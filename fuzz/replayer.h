// Runs single cases as `replay` and `regress` do: each in a process of its own, and where the device accepts it, the
// CPU and the operators' contracts are asked too. One case at a time; not for several threads.
#pragma once

#include <functional>
#include <memory>

#include "repro/diagnose.h"
#include "repro/executor.h"

namespace dsafuzz {

struct Replayed {
  Outcome outcome;
  Diagnosis diagnosis;
};

class Replayer {
 public:
  using StartWorkers = std::function<Result<std::unique_ptr<Executor>>(const RunSettings&)>;
  explicit Replayer(StartWorkers start) : start_(std::move(start)) {}

  // Workers are kept for the next case that needs the same settings; the CPU's are started when it is first asked.
  // Problem: no worker.
  Result<Replayed> replay(const Case& c, const RunSettings& settings);

 private:
  struct Workers {
    std::unique_ptr<Executor> executor;
    RunSettings settings;  // that they were started with
  };
  Result<Executor*> workers(Workers& kept, const Case& c, const RunSettings& wanted);

  StartWorkers start_;
  Workers device_, cpu_;
};

}  // namespace dsafuzz
