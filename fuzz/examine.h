// From a candidate to a confirmed finding: run it alone, reduce it, confirm it in fresh processes, ask the CPU, write
// the reproducer, and run what was written. Deterministic: the same candidate gives the same minimal case.
//
// Limits are executions unless asked otherwise, so that a slow machine finds the same minimum as a fast one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "fuzz/redaction.h"
#include "fuzz/reproducer_runner.h"
#include "fuzz/store.h"
#include "fuzz/trials.h"
#include "repro/redact.h"

namespace dsafuzz {

struct ExamineOptions {
  int confirmations = 5;       // fresh processes that are asked
  int executions = 500;        // for one reduction; 0: do not reduce
  int hang_executions = 60;    // the same where every failing run takes the whole time limit
  double seconds = 0;          // for one reduction; 0: no limit
  int start_runs = 10;         // that measure how often the bug shows, before it is reduced; fewer where it hangs
  std::optional<PrivateNames> redact;  // replaces floating contents and all names first (redaction.h)
  int jobs = 1;                // slow cases of a reduction at once, on executors made by start_more
  Trials::StartExecutor start_more;
  std::vector<Device> elsewhere;  // other devices that are asked about the minimal case of a confirmed finding
  std::function<Result<Executor*>(const Device&)> workers_on;  // for those; what it returns outlives the examination
  std::function<void(int executions, const Case& best)> progress;  // of a reduction; may be empty
  std::function<bool()> stop;  // asked between runs; true: give up and leave the candidate where it is
};

struct Examination {
  enum class End : std::uint8_t {
    confirmed,      // every fresh process agreed; the finding is on disk
    flaky,          // some did; the finding is on disk and says k of n
    duplicate,      // its signature has a finding already
    not_confirmed,  // no fresh process failed: set aside
    harmless,       // a suspect or interrupted case that turned out well
    stopped,        // left for the next campaign
  };
  End end = End::stopped;
  Signature signature;  // of the fresh run
  std::string folder;   // of the finding; empty if there is none
  std::string device;   // where it was examined
  std::string why;      // one sentence where it did not become a finding
  Case minimal;
  int confirmed = 0, confirmations = 0, executions = 0;
  std::vector<DeviceCheck> elsewhere;
  bool one_minimal = false;
  bool comes_and_goes = false;         // some runs of the start did not show it
  std::optional<RedactedCase> redaction;  // what became of the candidate, if asked for
  std::vector<PassCount> certificate;  // single edits tried on the minimal case, all refused
};

class Examiner {
 public:
  // `device` runs with blocking launches, so that the failing operator itself is blamed. `cpu` and `reproducers` may be
  // null: the contracts are then the only second opinion, and the files are written but not run.
  // `scenarios`, by name, say what counts as a finding. All outlive the examiner.
  Examiner(Store& store, Executor& device, Executor* cpu, ReproducerRunner* reproducers,
           const std::map<std::string, Scenario>& scenarios, ExamineOptions options);

  // The candidate is gone from the store afterwards, unless stopped. Problem: no worker, or no space on the disk; the
  // candidate stays.
  Result<Examination> examine(const Candidate& candidate);

 private:
  Result<Case> reduced(const Case& start, const Signature& wanted, bool fresh, Examination& examination);
  Result<Finding> confirmed(const Case& original, const Signature& wanted, Examination& examination);
  Result<std::vector<DeviceCheck>> checked_elsewhere(const Case& minimal, const Signature& wanted);
  Result<std::string> publish(const Finding& finding, const std::optional<RedactedCase>& redaction);
  Result<void> keep_slip(const Candidate& parent, const Signature& signature, const Case& found);
  bool stopped() const { return options_.stop && options_.stop(); }

  Store& store_;
  Executor& device_;
  Executor* cpu_;
  ReproducerRunner* reproducers_;
  const std::map<std::string, Scenario>& scenarios_;
  Trials trials_;
  ExamineOptions options_;
  std::vector<std::pair<Signature, Case>> slips_;
};

}  // namespace dsafuzz
