// `dsafuzz regress`: replays a corpus and reports what differs, or compares two such runs.
#include <chrono>
#include <cstdio>

#include "fuzz/atomic_file.h"
#include "fuzz/commands.h"
#include "fuzz/regress.h"
#include "fuzz/row_counter.h"
#include "fuzz/worker_pool.h"
#include "repro/read_file.h"
#include "repro/regress_compare.h"

namespace dsafuzz {
namespace {

constexpr std::size_t kRunSizeLimit = std::size_t{64} << 20;

Result<RegressRun> load_run(const std::string& path) {
  return parse_regress_json(DSAFUZZ_TRY(read_file(path, kRunSizeLimit)), path);
}

// "-" is the standard output, which then holds nothing else.
Result<void> write_json(const std::string& path, const std::string& json) {
  if (path.empty()) return {};
  if (path != "-") return write_whole(path, json);
  std::fputs(json.c_str(), stdout);
  return {};
}

int compare(const RegressFlags& flags) {
  const auto a = load_run(flags.compare[0]), b = load_run(flags.compare[1]);
  if (!a) return fail(a.error());
  if (!b) return fail(b.error());
  const RegressComparison comparison = compare_runs(*a, flags.compare[0], *b, flags.compare[1]);
  if (flags.json != "-") std::fputs(comparison_text(comparison).c_str(), stdout);
  if (const auto ok = write_json(flags.json, comparison_json(comparison)); !ok) return fail(ok.error());
  return comparison.differences.empty() ? 0 : 1;
}

int exit_code_of(const RegressRun& run) {
  // What could not be judged comes first: an incomplete answer must not look like a complete one.
  if (run.count(RegressStatus::not_run) > 0) return 3;
  if (run.count(RegressStatus::unreadable) > 0) return 2;
  return run.count(RegressStatus::differs) + run.count(RegressStatus::flaky) > 0 ? 1 : 0;
}

}  // namespace

int regress_command(const RegressFlags& flags) {
  if (!flags.compare.empty()) return compare(flags);
  if (flags.folders.empty())
    return fail(input_problem("a folder with cases is needed", "regress", "or --compare A.json B.json").error());
  const auto settings = settings_of(flags.run, true);
  if (!settings) return fail(settings.error());
  auto cases = find_cases(flags.folders);
  if (!cases) return fail(cases.error());
  RegressOptions options;
  options.cases = std::move(*cases);
  options.settings = *settings;
  options.confirmations = flags.confirmations;
  options.jobs = static_cast<std::size_t>(flags.jobs);
  options.start_workers = start_workers;
  std::optional<RowCounter> counter;
  if (!flags.quiet) counter.emplace("regress", "cases");
  options.progress = [&](std::size_t done, std::size_t all) {
    if (counter) counter->show(done, all);
  };

  const auto start = std::chrono::steady_clock::now();
  auto run = run_regress(options);
  if (!run) return fail(run.error());
  counter.reset();
  run->program = DSAFUZZ_VERSION;
  run->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (flags.json != "-") {
    std::printf("%s%s\n", regress_table(*run, flags.quiet).c_str(), regress_summary(*run).c_str());
  }
  if (const auto ok = write_json(flags.json, regress_json(*run)); !ok) return fail(ok.error());
  const std::pair<const std::string&, std::string (*)(const RegressRun&)> reports[] = {{flags.junit, regress_junit},
                                                                                       {flags.sarif, regress_sarif}};
  for (const auto& [path, write] : reports) {
    if (path.empty()) continue;
    if (const auto ok = write_whole(path, write(*run)); !ok) return fail(ok.error());
  }
  return exit_code_of(*run);
}

}  // namespace dsafuzz
