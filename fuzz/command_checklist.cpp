#include <cstdio>

#include "fuzz/case_file.h"
#include "fuzz/commands.h"
#include "fuzz/walk_checklist.h"
#include "fuzz/worker_pool.h"

namespace dsafuzz {

int checklist_command(const ChecklistFlags& flags) {
  const auto asked = settings_of(flags.run, true);
  if (!asked) return fail(asked.error());
  const auto file = load_runnable_case(flags.the_case);
  if (!file) return fail(file.error());
  RunSettings settings = settings_for(*file, *asked);
  settings.device = asked->device;  // one is chosen here, whatever an expectation was written for
  const Scenario* scenario = file->scenario ? &*file->scenario : nullptr;
  auto list = walk_checklist(file->the_case, scenario, settings, start_workers);
  if (!list) return fail(list.error());
  list->file = flags.the_case;
  const std::string text = flags.run.json ? checklist_json(*list) : checklist_text(*list);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (list->has_failed()) return 1;
  return list->not_run.empty() ? 0 : 3;
}

}  // namespace dsafuzz
