// A nightly run, step by step, in one folder:
//
//   regress    the regression corpus is replayed: does every case show what it should?
//   known      the findings of earlier nights are replayed: which still show, which are gone?
//   fuzz       a campaign, with reduction and confirmation
//   merge      the corpus is minimised
//   coverage   which assert sites the corpus reaches and triggers
//   matrix     the error-parity table
//   prune      old runs and logs
//
// Each step is recorded when it is done. A run that was cut off at any point is completed by the next one, but for the
// rest of its search time: candidates it left are examined, and the steps that follow are done. Then the next one's own
// night begins. What cannot be done (no GPU, no space) is a problem in the report and does not stop the other steps.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "fuzz/campaign.h"
#include "fuzz/nightly_config.h"

namespace dsafuzz {

struct NightlyOptions {
  NightlyConfig config;
  std::string catalogue;  // folder: the catalogue of device asserts
  StartWorkers start_workers;
  ReproducerRunner* reproducers = nullptr;
  std::optional<PrivateNames> redact;  // campaign.h; where the configuration asks for it
  std::string program = "/proc/self/exe";  // for engines
  std::FILE* progress = nullptr;           // null: silent
  bool terminal = false;
};

struct NightlyFinding {
  std::string name, text, scenario;  // name: of its folder
  std::string seen;                  // what a gone one shows instead
  bool accepted = false;             // by the baseline
};

struct NightlySummary {
  std::int64_t run = 0;  // its id in the database
  std::uint64_t seed = 0;
  std::vector<NightlyFinding> fresh, known, gone;  // `gone`: those that showed in the run before
  std::size_t regressions = 0;                     // cases replayed
  std::vector<std::string> differences;            // "NAME: expected ..., seen ..."
  std::vector<std::string> steps;                  // "fuzz: 123456 executions in 3600 s", one line each
  std::vector<std::string> problems;
  bool completed_another = false;  // a run that was cut off
  bool interrupted = false;        // the next nightly completes it

  // 1: something to act on: a finding that is not accepted, or a case that differs; else 3: something could not be
  // done; else 0. Not accepted is, with a baseline, whatever shows and is not in it; without one, what is new.
  int exit_code(bool has_baseline) const;
};
std::string to_text(const NightlySummary& summary, bool has_baseline);

// Problem: the folder is in use by another nightly run, or its database cannot be used.
Result<NightlySummary> run_nightly(const NightlyOptions& options);

// Writes all findings that showed in the last nightly run into the baseline, keeping the reasons that stand there;
// returns how many. Problem: no such run, no baseline in the configuration.
Result<std::size_t> accept_findings(const NightlyConfig& config);

}  // namespace dsafuzz
