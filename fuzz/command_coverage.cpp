// `dsafuzz coverage`: runs the cases of a folder and says which device asserts they reach.
#include <algorithm>
#include <cstdio>

#include "fuzz/commands.h"
#include "fuzz/corpus_cases.h"
#include "fuzz/row_counter.h"
#include "fuzz/site_coverage.h"
#include "fuzz/worker_pool.h"

namespace dsafuzz {
int coverage_command(const CoverageFlags& flags) {
  const auto settings = settings_of(flags.run, true);
  if (!settings) return fail(settings.error());
  const auto catalogue = load_catalogue(shipped_folder("corpus/catalogue"));
  if (!catalogue) return fail(catalogue.error());
  std::vector<Case> cases;
  for (const std::string& folder : flags.folders.empty() ? std::vector{shipped_folder("corpus")} : flags.folders) {
    auto found = cases_below(folder);
    if (!found) return fail(found.error());
    std::ranges::move(*found, std::back_inserter(cases));
  }
  RunSettings wanted = *settings;
  if (wanted.modules.empty()) wanted.modules = shipped_folder("scenarios");
  const auto workers = start_workers(wanted);
  if (!workers) return fail(workers.error());
  SiteCoverage coverage(*catalogue);
  RowCounter counter("coverage", "cases");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto outcome = (*workers)->run(cases[i]);
    if (!outcome) return fail(outcome.error());
    coverage.add(cases[i].scenario, *outcome);
    counter.show(i + 1, cases.size());
  }
  std::fputs((flags.run.json ? coverage_json(coverage) : coverage_text(coverage)).c_str(), stdout);
  return 0;
}

}  // namespace dsafuzz
