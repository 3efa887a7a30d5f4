#include "fuzz/nightly_steps.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <set>

#include "fuzz/case_file.h"
#include "fuzz/corpus_cases.h"
#include "fuzz/matrix.h"
#include "fuzz/merge.h"
#include "fuzz/regress.h"
#include "fuzz/site_coverage.h"
#include "fuzz/stored_finding.h"
#include "repro/case_text.h"
#include "repro/escape.h"

namespace dsafuzz {

Result<void> NightlySteps::run() {
  constexpr std::array<std::pair<const char*, Step>, 7> kSteps{{{"regress", &NightlySteps::regress},
                                                                {"known", &NightlySteps::known},
                                                                {"fuzz", &NightlySteps::fuzz},
                                                                {"merge", &NightlySteps::merge},
                                                                {"coverage", &NightlySteps::coverage},
                                                                {"matrix", &NightlySteps::matrix},
                                                                {"prune", &NightlySteps::prune_old}}};
  for (const auto& [name, step] : kSteps) {
    DSAFUZZ_CHECK(one(name, step));
    if (summary_.interrupted) return {};
  }
  return {};
}

Result<void> NightlySteps::one(const std::string& name, Step step) {
  const auto done =
      DSAFUZZ_TRY(sql().query("SELECT seconds FROM run_steps WHERE run = ? AND name = ?", {record_.id(), name}));
  if (!done.empty() && !std::holds_alternative<std::monostate>(done[0][0])) return {};
  if (options_.progress) std::fprintf(options_.progress, "nightly: %s\n", name.c_str());
  const double start = record_.at();
  DSAFUZZ_CHECK(
      sql().run("INSERT OR IGNORE INTO run_steps (run, name, at) VALUES (?, ?, ?)", {record_.id(), name, start}));
  const Result<std::string> said = (this->*step)();
  if (!said) trouble(name + ": " + said.error().text());
  const std::string note = said ? *said : "not done: " + said.error().text();
  if (!note.empty()) summary_.steps.push_back(name + ": " + note);
  if (summary_.interrupted) return record_.flush();
  DSAFUZZ_CHECK(record_.flush());
  return sql().run("UPDATE run_steps SET seconds = ?, note = ? WHERE run = ? AND name = ?",
                   {record_.at() - start, note, record_.id(), name});
}

RunSettings NightlySteps::settings() const {
  RunSettings settings;
  settings.device = config_.devices.front();
  settings.blocking = true;
  settings.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(config_.time_limit * 1000));
  settings.modules = config_.modules;
  return settings;
}

Result<RegressRun> NightlySteps::replay(const std::vector<std::string>& folders) {
  RegressOptions regress;
  regress.cases = DSAFUZZ_TRY(find_cases(folders));
  regress.settings = settings();
  regress.confirmations = config_.confirmations;
  regress.jobs = config_.jobs;
  regress.start_workers = options_.start_workers;
  RegressRun run = DSAFUZZ_TRY(run_regress(regress));
  record_.add_versions(run.versions);
  return run;
}

Result<std::string> NightlySteps::regress() {
  if (config_.regressions.empty()) return "";
  const RegressRun run = DSAFUZZ_TRY(replay(config_.regressions));
  summary_.regressions = run.rows.size();
  DSAFUZZ_CHECK(sql().together([&]() -> Result<void> {
    DSAFUZZ_CHECK(sql().run("DELETE FROM regressions WHERE run = ?", {record_.id()}));
    for (const RegressRow& row : run.rows) {
      DSAFUZZ_CHECK(
          sql().run("INSERT INTO regressions (run, name, device, status, expected, seen, text) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                    {record_.id(), row.name, row.device, std::string(to_text(row.status)), row.expected,
                     row.seen ? seen_text(*row.seen) : "", row_text(row)}));
    }
    return {};
  }));
  for (const RegressRow& row : run.rows) {
    const std::string line = row.name + ": " + row_text(row);
    switch (row.status) {
      case RegressStatus::differs:
      case RegressStatus::flaky: summary_.differences.push_back(line); break;
      case RegressStatus::unreadable:
      case RegressStatus::not_run: trouble("regress: " + line); break;
      case RegressStatus::skipped:
      case RegressStatus::no_expectation:
      case RegressStatus::as_expected: break;
    }
  }
  return counted(run.rows.size(), "case") + ", " + std::to_string(run.count(RegressStatus::as_expected)) +
         " as expected, " + counted(summary_.differences.size(), "difference");
}

// In the last run that looked, it was gone before.
Result<bool> NightlySteps::is_gone_already(const std::string& name) {
  const auto last = DSAFUZZ_TRY(sql().query(
      "SELECT f.state FROM run_findings f JOIN signatures s ON s.id = f.signature JOIN runs r ON r.id = f.run "
      "WHERE s.name = ? AND f.run <> ? ORDER BY r.started DESC, r.id DESC LIMIT 1",
      {name, record_.id()}));
  return !last.empty() && text_of(last[0][0]) == "gone";
}

Result<std::string> NightlySteps::known() {
  const auto store = DSAFUZZ_TRY(Store::open(config_.out, Store::Access::shared));
  const std::set<std::string> names = store.findings();
  if (names.empty()) return "no finding yet";
  const RegressRun run = DSAFUZZ_TRY(replay({config_.out + "/findings"}));
  std::size_t showing = 0;
  for (const RegressRow& row : run.rows) {
    const std::string folder = store.finding_file(row.name, "");
    const auto stored = read_stored_finding(folder);
    if (!stored || !names.contains(row.name)) continue;
    if (row.status == RegressStatus::not_run || row.status == RegressStatus::unreadable) {
      trouble("known: " + row.name + ": " + row_text(row));
      continue;
    }
    const bool shows = row.status != RegressStatus::differs;
    const bool was_gone = DSAFUZZ_TRY(is_gone_already(row.name));
    showing += shows;
    if (!shows && was_gone) continue;
    const auto minimal = load_case(folder + "case.yaml");
    RunFinding finding{.signature = stored->signature,
                       .state = !shows     ? FindingState::gone
                                : was_gone ? FindingState::new_one
                                           : FindingState::known,
                       .scenario = minimal ? minimal->scenario : "",
                       .device = row.device,
                       .confirmed = row.runs - row.differed,
                       .confirmations = row.runs,
                       .elements = minimal ? element_count(*minimal) : 0,
                       .one_minimal = stored->one_minimal,
                       .seen = shows      ? ""
                               : row.seen ? seen_text(*row.seen)
                                          : row_text(row)};
    const NightlyFinding said{
        .name = row.name, .text = stored->signature.text(), .scenario = finding.scenario, .seen = finding.seen};
    (finding.state == FindingState::gone    ? summary_.gone
     : finding.state == FindingState::known ? summary_.known
                                            : summary_.fresh)
        .push_back(said);
    record_.add(std::move(finding));
  }
  return std::to_string(showing) + " of " + counted(names.size(), "finding") + " still " +
         (showing == 1 ? "shows" : "show");
}

Result<std::string> NightlySteps::fuzz() {
  CampaignOptions campaign;
  campaign.scenarios = config_.scenarios;
  campaign.settings = settings();
  campaign.settings.blocking = false;
  campaign.devices = config_.devices;
  campaign.seconds = config_.seconds;
  campaign.runs = config_.runs;
  campaign.seed = summary_.seed;
  campaign.jobs = config_.jobs;
  campaign.out = config_.out;
  campaign.search = search_;
  campaign.seeds = config_.seeds;
  campaign.confirmations = config_.confirmations;
  campaign.program = options_.program;
  campaign.start_workers = options_.start_workers;
  campaign.reproducers = config_.run_reproducers ? options_.reproducers : nullptr;
  campaign.redact = options_.redact;
  campaign.record = &record_;
  campaign.progress = options_.progress;
  campaign.terminal = options_.terminal;
  if (campaign.settings.modules.empty()) {
    campaign.settings.modules = std::filesystem::path(config_.scenarios[0]).parent_path().string();
  }
  const CampaignSummary done = DSAFUZZ_TRY(run_campaign(campaign));
  for (const FindingSummary& finding : done.findings) {
    summary_.fresh.push_back({.name = std::filesystem::path(finding.folder).filename().string(),
                              .text = finding.signature,
                              .scenario = finding.scenario});
  }
  // The campaign has recorded its own already.
  for (const std::string& problem : done.problems) summary_.problems.push_back("fuzz: " + problem);
  summary_.interrupted = done.interrupted;
  std::uint64_t executions = 0;
  double seconds = 0;
  for (const DeviceSummary& device : done.devices) {
    executions += device.executions;
    seconds += device.seconds;
  }
  if (!search_) return "candidates of the run that was cut off, " + counted(done.findings.size(), "new finding");
  return counted(executions, "execution") + " in " + counted(static_cast<std::size_t>(seconds), "second") +
         " of engines, " + counted(done.findings.size(), "new finding");
}

Result<std::string> NightlySteps::merge() {
  auto store = DSAFUZZ_TRY(Store::open(config_.out, Store::Access::exclusive));
  MergeOptions merge;
  merge.settings = settings();
  merge.settings.blocking = false;
  merge.jobs = config_.jobs;
  merge.start_workers = options_.start_workers;
  MergeSummary merged;
  DSAFUZZ_CHECK(minimise_corpora(store, merge, merged));
  std::size_t cases = 0, kept = 0;
  for (const MergedCorpus& corpus : merged.corpora) {
    cases += corpus.cases;
    kept += corpus.kept;
  }
  return std::to_string(kept) + " of " + counted(cases, "case") + " kept";
}

Result<std::string> NightlySteps::coverage() {
  if (!config_.coverage) return "";
  SiteCoverage coverage(DSAFUZZ_TRY(load_catalogue(options_.catalogue)));
  const auto workers = DSAFUZZ_TRY(options_.start_workers(settings()));
  std::vector<std::string> folders{config_.out + "/corpus", config_.out + "/findings"};
  folders.insert(folders.end(), config_.regressions.begin(), config_.regressions.end());
  for (const std::string& folder : folders) {
    const auto cases = cases_below(folder);
    if (!cases) continue;  // none yet, or one that `regress` has complained of
    for (const Case& c : *cases) coverage.add(c.scenario, DSAFUZZ_TRY(workers->run(c)));
  }
  DSAFUZZ_CHECK(sql().together([&]() -> Result<void> {
    DSAFUZZ_CHECK(sql().run("DELETE FROM sites WHERE run = ?", {record_.id()}));
    for (const SiteCoverage::Site& site : coverage.sites()) {
      if (site.rows.empty()) continue;
      DSAFUZZ_CHECK(sql().run(
          "INSERT OR REPLACE INTO sites (run, source, function, condition, rows, reached, triggered, scenarios) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
          {record_.id(), site.source, site.function, site.condition, joined(site.rows, " "),
           static_cast<std::int64_t>(!site.reached_by.empty()), static_cast<std::int64_t>(!site.triggered_by.empty()),
           joined(site.triggered_by.empty() ? site.reached_by : site.triggered_by, " ")}));
    }
    return {};
  }));
  return std::to_string(coverage.reached()) + " of " + std::to_string(coverage.catalogue_size()) +
         " assert sites reached, " + std::to_string(coverage.triggered()) + " triggered";
}

Result<std::string> NightlySteps::matrix() {
  if (!config_.matrix) return "";
  MatrixOptions matrix;
  matrix.catalogue = options_.catalogue;
  // The CPU first: it is the second opinion on the others.
  matrix.devices = {Device{Device::Kind::cpu, 0}};
  for (const Device& device : config_.devices) {
    if (device.index == 0 && device.kind != Device::Kind::cpu) matrix.devices.push_back(device);
  }
  matrix.settings = settings();
  matrix.jobs = config_.jobs;
  matrix.start_workers = options_.start_workers;
  const auto rows = DSAFUZZ_TRY(run_matrix(matrix));
  DSAFUZZ_CHECK(sql().together([&]() -> Result<void> {
    DSAFUZZ_CHECK(sql().run("DELETE FROM parity WHERE run = ?", {record_.id()}));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const MatrixRow& row = rows[i];
      const SqlValue matches =
          row.matches_catalogue ? SqlValue(static_cast<std::int64_t>(*row.matches_catalogue)) : SqlValue();
      DSAFUZZ_CHECK(sql().run(
          "INSERT OR REPLACE INTO parity (run, id, op, source, condition, agreement, matches_catalogue, position) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
          {record_.id(), row.id(), row.catalogue.operators, row.catalogue.source, row.catalogue.condition,
           std::string(to_text(row.agreement)), matches, static_cast<std::int64_t>(i)}));
      for (const MatrixCell& cell : row.cells) {
        DSAFUZZ_CHECK(sql().run("INSERT INTO parity_cells (run, id, device, verdict, signature) VALUES (?, ?, ?, ?, ?)",
                                {record_.id(), row.id(), cell.device, std::string(to_text(cell.signature.verdict)),
                                 cell.signature.text()}));
      }
    }
    return {};
  }));
  const auto differs = std::ranges::count(rows, Agreement::catalogue_differs, &MatrixRow::agreement);
  if (differs > 0)
    trouble("matrix: " + counted(static_cast<std::size_t>(differs), "row") + " contradict the catalogue");
  return counted(rows.size(), "row") + ", " + std::to_string(differs) + " contradict the catalogue";
}

Result<std::string> NightlySteps::prune_old() {
  if (config_.keep.days == 0 && config_.keep.runs == 0) return "";
  const auto store = DSAFUZZ_TRY(Store::open(config_.out, Store::Access::exclusive));
  const Pruned pruned = DSAFUZZ_TRY(prune(store, record_.database(), config_.keep, false));
  return counted(static_cast<std::size_t>(pruned.runs), "old run") + " and " +
         counted(static_cast<std::size_t>(pruned.files), "old file") + " removed";
}

void NightlySteps::trouble(const std::string& problem) {
  summary_.problems.push_back(problem);
  record_.add_problem(problem);
}

}  // namespace dsafuzz
