// `dsafuzz merge`: joins output folders, and keeps of the corpus what coverage needs.
#include <cstdio>

#include "fuzz/class_reports.h"
#include "fuzz/commands.h"
#include "fuzz/merge.h"
#include "fuzz/row_counter.h"
#include "fuzz/stop_request.h"
#include "fuzz/worker_pool.h"

namespace dsafuzz {

int merge_command(const MergeFlags& flags) {
  const auto settings = settings_of(flags.run, false);
  if (!settings) return fail(settings.error());
  auto store = Store::open(flags.out, Store::Access::exclusive);
  if (!store) return fail(store.error());
  MergeSummary summary;
  if (const auto taken = take_folders(*store, flags.from, summary); !taken) return fail(taken.error());
  if (summary.findings > 0) {
    if (const auto written = write_class_reports(*store); !written) return fail(written.error());
  }
  if (flags.minimise) {
    const StopRequest stop;
    RowCounter counter("merge", "cases");
    MergeOptions options;
    options.settings = *settings;
    if (options.settings.modules.empty()) options.settings.modules = shipped_folder("scenarios");
    options.jobs = static_cast<std::size_t>(flags.jobs);
    options.start_workers = start_workers;
    options.progress = [&](std::size_t done, std::size_t all) { counter.show(done, all); };
    options.stop = [&] { return stop.asked().load(); };
    if (const auto done = minimise_corpora(*store, options, summary); !done) return fail(done.error());
  }
  std::fputs(to_text(summary).c_str(), stdout);
  return summary.interrupted ? 3 : 0;
}

}  // namespace dsafuzz
