#include "fuzz/nightly.h"

#include <algorithm>

#include "fuzz/atomic_file.h"
#include "fuzz/baseline.h"
#include "fuzz/folder_lock.h"
#include "fuzz/nightly_steps.h"

namespace dsafuzz {
namespace {

// Each night has a seed of its own, whether it comes to an end or not.
Result<std::uint64_t> seed_of_night(CampaignDatabase& database, const NightlyConfig& config) {
  // Not their count, which pruning makes smaller; the last one always stays.
  const auto nights = DSAFUZZ_TRY(database.sql().query("SELECT coalesce(max(id), 0) FROM runs"));
  return config.seed + static_cast<std::uint64_t>(integer_of(nights[0][0]));
}

void mark_accepted(NightlySummary& summary, const Baseline& baseline) {
  for (auto* findings : {&summary.fresh, &summary.known, &summary.gone}) {
    for (NightlyFinding& finding : *findings) finding.accepted = baseline.contains(finding.name);
  }
}

Result<void> complete(const NightlyOptions& options, const Baseline& baseline, std::int64_t run,
                      NightlySummary& tonight) {
  if (options.progress) std::fputs("nightly: completing a run that was cut off\n", options.progress);
  RunRecord record = RunRecord::resume(DSAFUZZ_TRY(CampaignDatabase::open(options.config.out)), run);
  NightlySummary summary;
  summary.seed = tonight.seed;
  DSAFUZZ_CHECK(NightlySteps(options, record, summary, false).run());
  mark_accepted(summary, baseline);
  const int exit_code = summary.exit_code(!options.config.baseline.empty());
  tonight.completed_another = true;
  tonight.interrupted = summary.interrupted;
  // What it found is news tonight: nobody has been told.
  tonight.fresh = std::move(summary.fresh);
  tonight.gone = std::move(summary.gone);
  for (const std::string& problem : summary.problems)
    tonight.problems.push_back("the run that was cut off: " + problem);
  return summary.interrupted ? Result<void>() : record.end(true, exit_code);
}

}  // namespace

Result<NightlySummary> run_nightly(const NightlyOptions& options) {
  const NightlyConfig& config = options.config;
  const Baseline baseline = DSAFUZZ_TRY(load_baseline(config.baseline));
  DSAFUZZ_CHECK(make_folder(config.out));
  const FolderLock lock = DSAFUZZ_TRY(FolderLock::take(config.out + "/nightly.lock", "another nightly run",
                                                       "wait for it, or give this one another folder"));
  NightlySummary summary;
  {
    CampaignDatabase database = DSAFUZZ_TRY(CampaignDatabase::open(config.out));
    summary.seed = DSAFUZZ_TRY(seed_of_night(database, config));
    if (const auto cut_off = DSAFUZZ_TRY(database.unfinished("nightly"))) {
      DSAFUZZ_CHECK(complete(options, baseline, *cut_off, summary));
      if (summary.interrupted) return summary;
    }
  }
  if (options.progress) {
    std::fprintf(options.progress, "nightly: %s, seed %llu\n", config.name.c_str(),
                 static_cast<unsigned long long>(summary.seed));
  }
  std::optional<RunRecord> record;
  {
    const auto store = DSAFUZZ_TRY(Store::open(config.out, Store::Access::exclusive));
    record.emplace(DSAFUZZ_TRY(RunRecord::begin(store, {.kind = "nightly",
                                                        .seed = summary.seed,
                                                        .jobs = config.jobs,
                                                        .seconds = config.seconds,
                                                        .executions = config.runs})));
  }
  summary.run = record->id();
  DSAFUZZ_CHECK(NightlySteps(options, *record, summary, true).run());
  // A bug of the run that was completed has been replayed since: it is told once, as new.
  std::erase_if(summary.known, [&](const NightlyFinding& finding) {
    return std::ranges::find(summary.fresh, finding.name, &NightlyFinding::name) != summary.fresh.end();
  });
  mark_accepted(summary, baseline);
  if (!summary.interrupted) DSAFUZZ_CHECK(record->end(false, summary.exit_code(!config.baseline.empty())));
  return summary;
}

Result<std::size_t> accept_findings(const NightlyConfig& config) {
  if (config.baseline.empty())
    return input_problem("there is no baseline to accept into", config.file, "baseline: FILE");
  Baseline baseline = DSAFUZZ_TRY(load_baseline(config.baseline));
  CampaignDatabase database = DSAFUZZ_TRY(CampaignDatabase::open(config.out));
  const auto rows = DSAFUZZ_TRY(database.sql().query(
      "SELECT s.name, s.text FROM run_findings f JOIN signatures s ON s.id = f.signature WHERE f.state <> 'gone' AND "
      "f.run = (SELECT max(id) FROM runs WHERE kind = 'nightly' AND ended IS NOT NULL)"));
  std::size_t added = 0;
  for (const SqlRow& row : rows) {
    added += baseline.try_emplace(text_of(row[0]), Accepted{text_of(row[1]), ""}).second;
  }
  DSAFUZZ_CHECK(write_whole(config.baseline, to_yaml(baseline)));
  return added;
}

}  // namespace dsafuzz
