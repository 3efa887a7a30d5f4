// `dsafuzz nightly` and `dsafuzz prune`.
#include <unistd.h>

#include <cstdio>

#include "fuzz/child_process.h"
#include "fuzz/commands.h"
#include "fuzz/nightly.h"
#include "fuzz/private_names.h"
#include "fuzz/redaction.h"
#include "fuzz/run_reproducer.h"
#include "fuzz/worker_pool.h"
#include "repro/scenario.h"

namespace dsafuzz {
namespace {

// The report is a program of its own; what it could not do is a problem like any other.
std::optional<std::string> write_report(const NightlyConfig& config) {
  std::vector<std::string> argv{"/proc/self/exe", "report", config.out};
  if (!config.html.empty()) argv.insert(argv.end(), {"--html", config.html});
  if (!config.markdown.empty()) argv.insert(argv.end(), {"--markdown", config.markdown});
  if (argv.size() == 3) return std::nullopt;
  const ChildResult result = run_child(argv, {}, std::chrono::minutes(10));
  if (result.exit_code == 0) return std::nullopt;
  return "report: " + (result.timed_out ? "it took more than ten minutes" : result.output);
}

}  // namespace

int nightly_command(const NightlyFlags& flags) {
  const auto config = load_nightly(flags.config);
  if (!config) return fail(config.error());
  if (flags.accept) {
    const auto accepted = accept_findings(*config);
    if (!accepted) return fail(accepted.error());
    std::printf("%zu more accepted in %s\n", *accepted, config->baseline.c_str());
    return 0;
  }
  ProcessReproducerRunner reproducers;
  NightlyOptions options{.config = *config,
                         .catalogue = shipped_folder("corpus/catalogue"),
                         .start_workers = start_workers,
                         .reproducers = &reproducers,
                         .progress = stderr,
                         .terminal = isatty(STDERR_FILENO) == 1};
  if (config->redact) {
    const auto scenarios = load_scenarios(config->scenarios);
    if (!scenarios) return fail(scenarios.error());
    if (const auto ok = check_redactable(*scenarios); !ok) return fail(ok.error());
    options.redact = private_names({folder_of(config->file), folder_of(config->scenarios[0]), config->out});
  }
  auto summary = run_nightly(options);
  if (!summary) return fail(summary.error());
  if (!summary->interrupted) {
    if (const auto problem = write_report(*config)) summary->problems.push_back(*problem);
  }
  std::fputs(to_text(*summary, !config->baseline.empty()).c_str(), stdout);
  return summary->exit_code(!config->baseline.empty());
}

int prune_command(const PruneFlags& flags) {
  if (flags.keep.days == 0 && flags.keep.runs == 0) {
    return fail(input_problem("nothing says what is to be kept", "prune", "--days or --runs").error());
  }
  if (const auto there = Store::open(flags.out, Store::Access::read); !there) return fail(there.error());
  const auto store = Store::open(flags.out, Store::Access::exclusive);
  if (!store) return fail(store.error());
  auto database = CampaignDatabase::open(store->folder());
  if (!database) return fail(database.error());
  const auto pruned = prune(*store, *database, flags.keep, flags.dry_run);
  if (!pruned) return fail(pruned.error());
  std::printf("%d runs, %d logs and old candidates %s\n", pruned->runs, pruned->files,
              flags.dry_run ? "would be removed" : "removed");
  return 0;
}

}  // namespace dsafuzz
