#include "fuzz/run_record.h"

#include <algorithm>

namespace dsafuzz {
namespace {

constexpr double kEvery = 1;       // seconds between samples
constexpr double kRetryEvery = 2;  // seconds between tries to write what waits
// While searching, a writer is not waited for longer than this.
constexpr auto kShortPatience = std::chrono::milliseconds(100);

// Samples that stay are further apart the longer a run takes: a night has about a thousand.
double distance_at(double seconds) { return std::max(kEvery, seconds / 200); }

}  // namespace

RunTotals since(const RunTotals& before, const RunTotals& now) {
  RunTotals more = now;
  for (std::size_t i = 0; i < before.devices.size(); ++i) {
    more.devices[i].executions -= before.devices[i].executions;
    more.devices[i].findings -= before.devices[i].findings;
    more.devices[i].seconds -= before.devices[i].seconds;
  }
  for (std::size_t i = 0; i < before.scenarios.size(); ++i) {
    more.scenarios[i].executions -= before.scenarios[i].executions;
    more.scenarios[i].restarts -= before.scenarios[i].restarts;
    more.scenarios[i].left_out -= before.scenarios[i].left_out;
    more.scenarios[i].seconds -= before.scenarios[i].seconds;
  }
  return more;
}

Result<RunRecord> RunRecord::begin(const Store& store, const RunStart& start) {
  CampaignDatabase database = DSAFUZZ_TRY(CampaignDatabase::open(store.folder()));
  const std::int64_t run = DSAFUZZ_TRY(database.begin(start));
  DSAFUZZ_TRY(database.adopt_findings(store, run));
  DSAFUZZ_CHECK(database.close_cut_off(run));
  return RunRecord(std::move(database), run);
}

RunRecord RunRecord::resume(CampaignDatabase database, std::int64_t run) {
  RunRecord record(std::move(database), run);
  const auto rows = record.database_.sql().query(
      "SELECT max(coalesce((SELECT max(at) FROM samples WHERE run = ?1), 0), "
      "coalesce((SELECT max(at + coalesce(seconds, 0)) FROM run_steps WHERE run = ?1), 0))",
      {run});
  if (rows && !rows->empty()) record.before_ = number_of((*rows)[0][0]);
  return record;
}

CampaignDatabase& RunRecord::database() {
  database_.sql().set_patience(kPatience);
  return database_;
}

double RunRecord::at() const { return before_ + std::chrono::duration<double>(Clock::now() - start_).count(); }

void RunRecord::sample(const ProgressFacts& f) {
  const double now = at();
  if (provisional_ && now - *provisional_ < kEvery) return;
  database_.sql().set_patience(kShortPatience);
  if (!waiting_.empty() && now - last_try_.value_or(0) >= kRetryEvery) write_waiting();
  // The newest sample is always there; it stays when the next one is far enough from the last that stayed.
  const bool overwrite = provisional_ && kept_ && *provisional_ > *kept_ && *provisional_ - *kept_ < distance_at(now);
  const SqlValue left = f.seconds_left ? SqlValue(*f.seconds_left) : SqlValue();
  const Result<void> written = database_.sql().together([&]() -> Result<void> {
    if (overwrite) {
      DSAFUZZ_CHECK(database_.sql().run("DELETE FROM samples WHERE run = ? AND at = ?", {run_, *provisional_}));
    }
    return database_.sql().run(
        "INSERT OR REPLACE INTO samples (run, at, doing, executions, per_second, features, findings, candidates, "
        "engines, restarts, "
        "seconds_left) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {run_, now, f.doing, stored_count(f.executions), f.per_second, stored_count(f.features),
         stored_count(f.findings), stored_count(f.candidates), stored_count(f.engines), stored_count(f.restarts),
         left});
  });
  if (written && !overwrite) kept_ = provisional_.value_or(now);
  // A sample that could not be written is not missed, but the next one waits its second.
  provisional_ = now;
}

void RunRecord::add(RunFinding finding) {
  finding.at = at();
  write([run = run_, finding = std::move(finding)](CampaignDatabase& to) { return to.add(run, finding); });
}

void RunRecord::add_problem(const std::string& text) {
  write([run = run_, when = at(), text](CampaignDatabase& to) { return to.add_problem(run, when, text); });
}

void RunRecord::add_versions(const std::map<std::string, std::string>& versions) {
  if (versions == versions_) return;
  versions_ = versions;
  write([run = run_, versions](CampaignDatabase& to) { return to.add_versions(run, versions); });
}

void RunRecord::add_totals(RunTotals totals) {
  write([run = run_, totals = std::move(totals)](CampaignDatabase& to) {
    return to.sql().together([&]() -> Result<void> {
      std::uint64_t executions = 0, features = 0;
      for (const DeviceTotals& d : totals.devices) {
        DSAFUZZ_CHECK(
            to.sql().run("INSERT INTO run_devices (run, device, executions, seconds, findings) VALUES (?, ?, ?, ?, ?) "
                         "ON CONFLICT (run, device) DO UPDATE SET executions = executions + excluded.executions, "
                         "seconds = seconds + excluded.seconds, findings = findings + excluded.findings",
                         {run, d.name, stored_count(d.executions), d.seconds, stored_count(d.findings)}));
      }
      for (const ScenarioTotals& s : totals.scenarios) {
        executions += s.executions;
        features += s.features;
        DSAFUZZ_CHECK(
            to.sql().run("INSERT INTO run_scenarios (run, scenario, executions, features, restarts, left_out, seconds) "
                         "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, scenario) DO UPDATE SET "
                         "executions = executions + excluded.executions, features = max(features, excluded.features), "
                         "restarts = restarts + excluded.restarts, left_out = left_out + excluded.left_out, "
                         "seconds = seconds + excluded.seconds",
                         {run, s.name, stored_count(s.executions), stored_count(s.features), stored_count(s.restarts),
                          stored_count(s.left_out), s.seconds}));
      }
      return to.sql().run("UPDATE runs SET executions = executions + ?, features = max(features, ?) WHERE id = ?",
                          {stored_count(executions), stored_count(features), run});
    });
  });
}

Result<void> RunRecord::end(bool interrupted, int exit_code, std::chrono::milliseconds patience) {
  waiting_.push_back([run = run_, interrupted, exit_code](CampaignDatabase& to) {
    return to.sql().run("UPDATE runs SET ended = ?, interrupted = ?, exit_code = ? WHERE id = ?",
                        {utc_now(), static_cast<std::int64_t>(interrupted), static_cast<std::int64_t>(exit_code), run});
  });
  return flush(patience);
}

Result<void> RunRecord::flush(std::chrono::milliseconds patience) {
  database_.sql().set_patience(patience);
  write_waiting();
  if (trouble_) return std::unexpected(*trouble_);
  return {};
}

void RunRecord::write(Entry entry) {
  waiting_.push_back(std::move(entry));
  database_.sql().set_patience(kShortPatience);
  if (waiting_.size() == 1 || at() - last_try_.value_or(0) >= kRetryEvery) write_waiting();
}

void RunRecord::write_waiting() {
  last_try_ = at();
  trouble_.reset();
  while (!waiting_.empty()) {
    if (const Result<void> ok = waiting_.front()(database_); !ok) {
      trouble_ = ok.error();
      return;
    }
    waiting_.pop_front();
  }
}

}  // namespace dsafuzz
