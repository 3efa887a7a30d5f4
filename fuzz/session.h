// What one engine does with one input, apart from libFuzzer: filter, write ahead, run, judge, and keep what looks bad
// on disk before anything else happens. A finding never ends the session.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fuzz/engine_status.h"
#include "fuzz/feature_set.h"
#include "fuzz/known_filter.h"
#include "fuzz/store.h"
#include "fuzz/write_ahead.h"
#include "repro/executor.h"
#include "repro/scenario.h"

namespace dsafuzz {

class Session {
 public:
  // Findings and answered suspects that are in the store now count as known; what comes later does not, so that the
  // session depends on its inputs alone. `scenario`, `executor` and `store` outlive it.
  Session(const Scenario& scenario, Executor& executor, Store& store, EngineName engine, WriteAhead running,
          std::uint64_t known_every);

  enum class Use : std::uint8_t {
    keep,  // a healthy run; its features say whether it is worth keeping
    drop,  // not to be mutated further: it failed, was left out, or does not belong to the scenario
  };
  // Runs the case; `bytes` is its encoding and `features` receives the coverage, all zero when dropped.
  // Problem: no worker, no space on the disk, or the device runs nothing at all.
  Result<Use> run(const Case& c, std::span<const std::uint8_t> bytes, std::span<std::uint8_t> features);

  const EngineStatus& status() const { return status_; }

 private:
  Result<void> book(const Candidate& candidate);
  Result<void> suspect(const Case& c, const Outcome& outcome, std::span<const IllegalValue> values);
  void count_features(std::span<const std::uint8_t> features);

  const Scenario& scenario_;
  Executor& executor_;
  Store& store_;
  EngineName engine_;
  WriteAhead running_;
  KnownFilter filter_;
  std::set<std::string> known_;             // folder names of signatures
  FeatureSet seen_;
  bool ran_once_ = false;
  EngineStatus status_;
};

}  // namespace dsafuzz
