// The one door to running a case. The real one (fuzz/worker_pool.h) drives child processes; tests use a fake.
#pragma once

#include <cstdint>
#include <span>

#include "repro/case.h"
#include "repro/outcome.h"
#include "repro/result.h"
#include "repro/run_settings.h"

namespace dsafuzz {

// How often a worker had to be replaced by the one kept in reserve, and how often that one was ready at once.
struct SpareUse {
  std::uint64_t taken = 0, ready = 0;
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Runs the case, in a worker that may have run others before. A dead target is an Outcome; a Problem means that no
  // worker can be had at all. `features`, if not empty, receives the run's coverage counters (cleared first).
  virtual Result<Outcome> run(const Case& c, std::span<std::uint8_t> features = {}) = 0;
  // The same, in a process that has run nothing before.
  virtual Result<Outcome> run_fresh(const Case& c) = 0;
  virtual const RunSettings& settings() const = 0;
  virtual SpareUse spares() const { return {}; }
};

}  // namespace dsafuzz
