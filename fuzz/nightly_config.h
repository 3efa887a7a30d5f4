// What a nightly run does: a YAML file. Paths are seen from the folder that holds it.
//
//   nightly: my_model                     # its name
//   scenarios: [scenarios]                # files, or folders of them
//   devices: [vcuda]                      # vcuda[:N], cuda:N; default: vcuda
//   seconds: 3600                         # of search; 0: no limit
//   runs: 0                               # executions for each scenario; 0: no limit. One of the two is needed
//   jobs: 2                               # engines at once on each device; default: 1
//   seed: 1                               # of the first night; later ones take later numbers
//   out: nightly                          # corpus, findings and campaign.db
//   seeds: corpus/seeds                   # cases to start from; may be left out
//   regressions: [corpus/regressions]     # replayed first; may be left out
//   baseline: baseline.yaml               # findings that are accepted (baseline.h); default: those of the night before
//   confirmations: 5                      # fresh processes for each finding
//   time_limit: 10                        # seconds for one case
//   modules: modules                      # TorchScript files of the scenarios
//   redact: false                         # true: findings without their owner's data (repro/redact_case.h)
//   run_reproducers: true                 # before a finding is called confirmed
//   coverage: true                        # which assert sites the corpus reaches
//   matrix: true                          # the error-parity table
//   report: {html: report.html, markdown: report.md}
//   keep: {days: 365, runs: 1000}         # older runs leave campaign.db, older logs the disk; 0: never
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuzz/prune.h"
#include "repro/result.h"
#include "repro/run_settings.h"

namespace dsafuzz {

struct NightlyConfig {
  std::string name, file;
  std::vector<std::string> scenarios;  // files
  std::vector<Device> devices;
  double seconds = 0;
  std::uint64_t runs = 0, seed = 1;
  std::size_t jobs = 1;
  std::string out, seeds, baseline, modules;  // paths; but for `out` they may be empty
  std::vector<std::string> regressions;       // folders of cases, or case files
  int confirmations = 5;
  double time_limit = 10;
  bool redact = false, run_reproducers = true, coverage = true, matrix = true;
  std::string html, markdown;  // files of the report; empty: none
  KeepPolicy keep;
};

// Problem: with its place in the file, whatever is unknown, missing, of another form, or names what is not there.
Result<NightlyConfig> parse_nightly(std::string_view text, const std::string& file);
Result<NightlyConfig> load_nightly(const std::string& file);

}  // namespace dsafuzz
