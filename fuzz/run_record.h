// A run as it is written into the campaign's database while it goes on. A database that cannot be written to in the
// middle of a run (locked, a full disk) never stops the search: samples are dropped, everything else waits in memory
// and is tried again, and what is left in the end is one problem. Findings lie in their folders in any case, and the
// next run adopts those that are not recorded.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/campaign_database.h"
#include "fuzz/progress.h"

namespace dsafuzz {

struct DeviceTotals {
  std::string name;
  std::uint64_t executions = 0, findings = 0;  // findings: new ones that were met and confirmed there
  double seconds = 0;                          // of its engines, added up
};

struct ScenarioTotals {
  std::string name;
  std::uint64_t executions = 0, features = 0, restarts = 0, left_out = 0;
  double seconds = 0;  // of its engines, added up
};

struct RunTotals {
  std::vector<DeviceTotals> devices;
  std::vector<ScenarioTotals> scenarios;
};
// What came to `before`, which has the same devices and scenarios or none. Features are those of `now`: they are not
// added up.
RunTotals since(const RunTotals& before, const RunTotals& now);

class RunRecord {
 public:
  static constexpr std::chrono::milliseconds kPatience{20'000};

  // A new run in the store's folder. Requires: the store is exclusive. Problem: as CampaignDatabase::open().
  static Result<RunRecord> begin(const Store& store, const RunStart& start);
  // One that was begun before, in this process or in one that died.
  static RunRecord resume(CampaignDatabase database, std::int64_t run);

  // For work between searches, which waits for other writers.
  CampaignDatabase& database();
  std::int64_t id() const { return run_; }
  double at() const;  // seconds since it began here, after those it had before

  // May be called often: writes about once a second, and keeps fewer the longer the run is.
  void sample(const ProgressFacts& facts);
  void add(RunFinding finding);  // `at` is filled in
  void add_problem(const std::string& text);
  void add_versions(const std::map<std::string, std::string>& versions);  // the same again costs nothing
  // To what the run has already.
  void add_totals(RunTotals totals);
  // The run is over. Waits for the database if it must, for up to `patience`. Problem: what could not be recorded.
  Result<void> end(bool interrupted, int exit_code, std::chrono::milliseconds patience = kPatience);
  // Writes what waits, as end() does, but the run goes on.
  Result<void> flush(std::chrono::milliseconds patience = kPatience);

 private:
  using Clock = std::chrono::steady_clock;
  using Entry = std::function<Result<void>(CampaignDatabase&)>;
  RunRecord(CampaignDatabase database, std::int64_t run) : database_(std::move(database)), run_(run) {}

  void write(Entry entry);
  void write_waiting();

  CampaignDatabase database_;
  std::int64_t run_;
  Clock::time_point start_ = Clock::now();
  double before_ = 0;               // seconds of the run before it was resumed
  std::deque<Entry> waiting_;       // in order
  std::optional<Problem> trouble_;  // why the first of them waits
  std::map<std::string, std::string> versions_;
  std::optional<double> last_try_;            // of those that wait
  std::optional<double> kept_, provisional_;  // `at` of the last sample that stays, and of the one that is overwritten
};

}  // namespace dsafuzz
