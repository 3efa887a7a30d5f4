#include "fuzz/regress.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <tuple>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

// A case waiting to be run.
struct Pending {
  std::size_t row;
  CaseFile file;
  RunSettings settings;
  std::optional<Expected> expected;
};

std::optional<Expected> expectation_of(const CaseFile& file) {
  if (file.expected) return file.expected;
  if (!file.finding) return std::nullopt;
  Expected out;
  out.verdict = file.finding->signature.verdict;
  out.signature = file.finding->signature.text();
  return out;
}

std::string text_of(const Expected& expected) {
  return std::string(to_text(expected.verdict)) + (expected.signature.empty() ? "" : " " + expected.signature);
}

// Runs the case until its status is known. `versions` receives what the run says of its software.
Result<void> judge_row(Replayer& replayer, const Pending& pending, int confirmations, RegressRow& row,
                       std::map<std::string, std::string>& versions) {
  for (row.runs = 0; row.runs < std::max(confirmations, 1);) {
    const Replayed run = DSAFUZZ_TRY(replayer.replay(pending.file.the_case, pending.settings));
    const Signature& seen = run.diagnosis.signature;
    ++row.runs;
    const bool differs = pending.expected && pending.expected->unmet(seen).has_value();
    if (differs) ++row.differed;
    // What differed first is what is shown.
    if (row.runs == 1) {
      row.seen = seen;
      row.device = run.outcome.device;
      row.error = first_line(run.outcome.error);
      row.evidence = run.diagnosis.evidence;
      row.seconds = run.outcome.seconds;
      versions = run.outcome.versions;
    }
    const bool could_run = seen.verdict != Verdict::setup_failed;
    if (!could_run && (differs || !pending.expected)) {
      row.status = RegressStatus::not_run;
      row.reason = row.error.empty() ? seen_text(seen) : row.error;
      return {};
    }
    row.status = !pending.expected          ? RegressStatus::no_expectation
                 : row.differed == 0        ? RegressStatus::as_expected
                 : row.differed == row.runs ? RegressStatus::differs
                                            : RegressStatus::flaky;
    if (row.differed == 0) return {};
  }
  return {};
}

}  // namespace

Result<RegressRun> run_regress(const RegressOptions& options) {
  RegressRun run;
  run.device = options.settings.device.text();
  std::vector<Pending> queue;
  for (const CasePath& path : options.cases) {
    RegressRow row{.name = path.name, .file = path.path};
    auto file = load_case_file(path.path);
    if (!file) {
      row.status = RegressStatus::unreadable;
      row.reason = file.error().text();
    } else if (file->expected && !file->expected->skip.empty()) {
      row.file = file->path;
      row.status = RegressStatus::skipped;
      row.reason = file->expected->skip;
    } else {
      row.file = file->path;
      row.case_id = case_id(file->the_case);
      const auto expected = expectation_of(*file);
      if (expected) row.expected = text_of(*expected);
      const RunSettings settings = settings_for(*file, options.settings);
      queue.push_back({run.rows.size(), std::move(*file), settings, expected});
    }
    run.rows.push_back(std::move(row));
  }
  // Cases with the same settings one after the other: other settings need other workers.
  std::ranges::sort(queue, {}, [](const Pending& p) {
    const Device& device = p.settings.device;
    return std::tuple(device.kind, device.index, device.own_kernels, p.settings.tool,
                      std::cref(p.settings.modules).get(), p.row);
  });

  std::atomic<std::size_t> next = 0;
  std::size_t done = 0;
  std::mutex mutex;
  std::optional<Problem> problem;
  const auto work = [&] {
    Replayer replayer(options.start_workers);
    for (std::size_t i; (i = next++) < queue.size();) {
      std::map<std::string, std::string> versions;
      const auto ok = judge_row(replayer, queue[i], options.confirmations, run.rows[queue[i].row], versions);
      const std::scoped_lock lock(mutex);
      if (!ok && !problem) problem = ok.error();
      if (problem) return;
      run.versions.merge(versions);
      if (options.progress) options.progress(++done, queue.size());
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min(options.jobs, queue.size()); ++i) threads.emplace_back(work);
  }
  if (problem) return std::unexpected(*problem);
  sort_worst_first(run);
  return run;
}

}  // namespace dsafuzz
