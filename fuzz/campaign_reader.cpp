#include "fuzz/campaign_reader.h"

#include <algorithm>

#include "fuzz/campaign_database.h"

namespace dsafuzz {
namespace {

std::uint64_t count_of(const SqlValue& value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_of(value)));
}

bool is_null(const SqlValue& value) { return std::holds_alternative<std::monostate>(value); }

}  // namespace

Result<CampaignReader> CampaignReader::open(const std::string& out) {
  const std::string path = CampaignDatabase::path_in(out);
  Sqlite sql = DSAFUZZ_TRY(Sqlite::open(path, Sqlite::Access::read));
  const std::int64_t version = DSAFUZZ_TRY(CampaignDatabase::schema_of(sql, path));
  return CampaignReader(std::move(sql), version);
}

Result<std::optional<RunOverview>> CampaignReader::last_run() {
  if (version_ < 1) return std::nullopt;
  const auto rows = DSAFUZZ_TRY(sql_.query(
      "SELECT id, kind, program, seed, started, ended, process, interrupted, seconds, executions, features, "
      "(SELECT count(*) FROM run_problems WHERE run = runs.id) FROM runs ORDER BY started DESC, id DESC LIMIT 1"));
  if (rows.empty()) return std::nullopt;
  const SqlRow& row = rows[0];
  RunOverview run;
  run.id = integer_of(row[0]);
  run.kind = text_of(row[1]);
  run.program = text_of(row[2]);
  run.seed = text_of(row[3]);
  run.started = text_of(row[4]);
  if (!is_null(row[5])) run.ended = text_of(row[5]);
  run.process = integer_of(row[6]);
  run.interrupted = integer_of(row[7]) != 0;
  run.seconds = number_of(row[8]);
  run.executions = count_of(row[9]);
  run.features = count_of(row[10]);
  run.problems = count_of(row[11]);
  DSAFUZZ_CHECK(read_totals(run));
  DSAFUZZ_CHECK(read_findings(run));
  return run;
}

Result<void> CampaignReader::read_totals(RunOverview& run) {
  for (const SqlRow& row : DSAFUZZ_TRY(
           sql_.query("SELECT at, doing, executions, per_second, features, findings, candidates, engines, restarts, "
                      "seconds_left FROM samples WHERE run = ? ORDER BY at DESC LIMIT ?",
                      {run.id, std::int64_t{RunOverview::kSamples}}))) {
    RunSample sample{.at = number_of(row[0]),
                     .facts = {.doing = text_of(row[1]),
                               .executions = count_of(row[2]),
                               .per_second = number_of(row[3]),
                               .features = count_of(row[4]),
                               .findings = count_of(row[5]),
                               .candidates = count_of(row[6]),
                               .engines = count_of(row[7]),
                               .restarts = count_of(row[8])}};
    if (!is_null(row[9])) sample.facts.seconds_left = number_of(row[9]);
    run.samples.push_back(std::move(sample));
  }
  std::ranges::reverse(run.samples);
  for (const SqlRow& row : DSAFUZZ_TRY(sql_.query(
           "SELECT device, executions, findings, seconds FROM run_devices WHERE run = ? ORDER BY device", {run.id}))) {
    run.devices.push_back({text_of(row[0]), count_of(row[1]), count_of(row[2]), number_of(row[3])});
  }
  for (const SqlRow& row :
       DSAFUZZ_TRY(sql_.query("SELECT scenario, executions, features, restarts, left_out, seconds FROM run_scenarios "
                              "WHERE run = ? ORDER BY executions DESC, scenario",
                              {run.id}))) {
    run.scenarios.push_back(
        {text_of(row[0]), count_of(row[1]), count_of(row[2]), count_of(row[3]), count_of(row[4]), number_of(row[5])});
  }
  if (version_ < 2) return {};
  const auto steps = DSAFUZZ_TRY(
      sql_.query("SELECT name FROM run_steps WHERE run = ? AND seconds IS NULL ORDER BY at DESC LIMIT 1", {run.id}));
  if (!steps.empty()) run.step = text_of(steps[0][0]);
  return {};
}

Result<void> CampaignReader::read_findings(RunOverview& run) {
  for (const SqlRow& row :
       DSAFUZZ_TRY(sql_.query("SELECT state, count(*) FROM run_findings WHERE run = ? GROUP BY state", {run.id}))) {
    const std::string state = text_of(row[0]);
    (state == "new" ? run.fresh : state == "known" ? run.known : run.gone) = count_of(row[1]);
  }
  for (const SqlRow& row :
       DSAFUZZ_TRY(sql_.query("SELECT f.state, f.at, s.verdict, s.op, s.text, f.scenario, f.device FROM run_findings f "
                              "JOIN signatures s ON "
                              "s.id = f.signature WHERE f.run = ? ORDER BY f.at DESC, s.name LIMIT ?",
                              {run.id, std::int64_t{RunOverview::kNewest}}))) {
    run.newest.push_back({text_of(row[0]), number_of(row[1]), text_of(row[2]), text_of(row[3]), text_of(row[4]),
                          text_of(row[5]), text_of(row[6])});
  }
  return {};
}

}  // namespace dsafuzz
