// Reads how the last run of a campaign goes, for whoever watches it from another process. Nothing is written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuzz/progress.h"
#include "fuzz/run_record.h"
#include "fuzz/sqlite.h"

namespace dsafuzz {

struct RunSample {
  double at = 0;  // seconds since the run started
  ProgressFacts facts;
};

struct MetFinding {
  std::string state;  // new, known, gone
  double at = 0;
  std::string verdict, op, text, scenario, device;
};

struct RunOverview {
  std::int64_t id = 0;
  std::string kind, program, seed;
  std::string started;               // "2026-12-02T13:00:00Z"
  std::optional<std::string> ended;  // empty: it runs, or was cut off
  std::int64_t process = 0;
  bool interrupted = false;
  double seconds = 0;  // that it was given; 0: no limit
  std::uint64_t executions = 0, features = 0;
  std::uint64_t known = 0, fresh = 0, gone = 0;  // findings by state
  std::uint64_t problems = 0;
  std::vector<RunSample> samples;     // the last ones, the oldest first
  std::vector<DeviceTotals> devices;  // of a nightly run: of the searches that are over
  std::vector<ScenarioTotals> scenarios;
  std::vector<MetFinding> newest;  // at most `kNewest`, the newest first
  std::string step;                // of a nightly run: what it is at; empty: between two, or none

  static constexpr int kSamples = 60, kNewest = 8;
};

class CampaignReader {
 public:
  // Problem: no database there (input); damaged, or written by a newer dsafuzz (environment).
  static Result<CampaignReader> open(const std::string& out);

  // The run that started last; empty if there is none. Problem (environment): locked, damaged.
  Result<std::optional<RunOverview>> last_run();

 private:
  explicit CampaignReader(Sqlite sql, std::int64_t version) : sql_(std::move(sql)), version_(version) {}
  Result<void> read_totals(RunOverview& run);
  Result<void> read_findings(RunOverview& run);

  Sqlite sql_;
  std::int64_t version_;
};

}  // namespace dsafuzz
