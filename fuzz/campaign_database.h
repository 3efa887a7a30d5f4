// The campaign's database, campaign.db in its output folder: what ran, how it went, what it found (campaign_schema.h).
// Findings themselves are folders (store.h), which can be read without it; it can be deleted at the price of history.
//
// Safe against a killed process and a power cut: SQLite's write-ahead log, each entry whole or not there. Several
// processes may read while one writes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fuzz/sqlite.h"
#include "fuzz/store.h"
#include "repro/finding.h"

namespace dsafuzz {

struct RunStart {
  std::string kind;  // fuzz, nightly
  std::uint64_t seed = 1;
  std::size_t jobs = 1;
  double seconds = 0;            // 0: no limit
  std::uint64_t executions = 0;  // for each scenario; 0: no limit
};

enum class FindingState : std::uint8_t { new_one, known, gone };
std::string_view to_text(FindingState state);  // "new", "known", "gone"

struct RunFinding {
  Signature signature;
  FindingState state = FindingState::new_one;
  double at = 0;  // seconds since the run started
  std::string scenario, device;
  int confirmed = 0, confirmations = 0;
  std::int64_t elements = 0;  // of the minimal case
  bool one_minimal = false;
  std::string seen;  // what a gone one shows instead
};

class CampaignDatabase {
 public:
  static std::string path_in(const std::string& out) { return out + "/campaign.db"; }
  static int schema_version();  // that this program writes
  // Of an open database; 0 for an empty one. Problem (environment): a newer dsafuzz wrote it.
  static Result<std::int64_t> schema_of(Sqlite& sql, const std::string& path);

  // Brings the tables to our version first. Problem (environment): damaged, not to be written to, no space, or written
  // by a newer dsafuzz; the file is as it was then.
  static Result<CampaignDatabase> open(const std::string& out);

  Sqlite& sql() { return sql_; }

  // A run begins; returns its id.
  Result<std::int64_t> begin(const RunStart& start);
  // In the run already: replaced.
  Result<void> add(std::int64_t run, const RunFinding& finding);
  Result<void> add_problem(std::int64_t run, double at, const std::string& text);
  Result<void> add_versions(std::int64_t run, const std::map<std::string, std::string>& versions);

  // Findings that lie in the folder and stand in no run: a process was killed between the two. They are given to the
  // last run that was cut off, else to `run`. Returns how many.
  Result<int> adopt_findings(const Store& store, std::int64_t run);

  // Runs of `fuzz` that were cut off end where their last sample stands. Requires: none is running but `but`.
  Result<void> close_cut_off(std::int64_t but);

  // Runs of another database, with all that belongs to them; those that are here already (by uuid) are left alone.
  // Returns how many came.
  Result<int> take_from(const std::string& other_out);

  // The latest run of the kind that has not ended.
  Result<std::optional<std::int64_t>> unfinished(const std::string& kind);

 private:
  explicit CampaignDatabase(Sqlite sql) : sql_(std::move(sql)) {}

  Sqlite sql_;
};

// "2026-12-02T13:00:00Z"
std::string utc_now();

}  // namespace dsafuzz
