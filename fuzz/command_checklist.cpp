#include <cstdio>
#include <filesystem>

#include "fuzz/case_file.h"
#include "fuzz/commands.h"
#include "fuzz/scenario_or_case.h"
#include "fuzz/walk_checklist.h"
#include "fuzz/worker_pool.h"

namespace dsafuzz {
namespace {

Result<ScenarioOrCase> load(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return load_scenario_or_case(path);
  CaseFile file = DSAFUZZ_TRY(load_case_file(path));
  if (file.expected && !file.expected->skip.empty()) return input_problem("is skipped: " + file.expected->skip, path);
  return ScenarioOrCase{.scenario = {}, .the_case = std::move(file.the_case)};
}

}  // namespace

int checklist_command(const ChecklistFlags& flags) {
  auto settings = settings_of(flags.run, true);
  if (!settings) return fail(settings.error());
  const auto loaded = load(flags.the_case);
  if (!loaded) return fail(loaded.error());
  const Scenario* scenario = loaded->scenario ? &*loaded->scenario : nullptr;
  if (!settings->tool && scenario) settings->tool = scenario->tool;
  if (settings->modules.empty()) {
    const bool is_folder = std::filesystem::is_directory(flags.the_case);
    settings->modules = is_folder ? flags.the_case : folder_of(flags.the_case);
  }
  auto list = walk_checklist(loaded->the_case, scenario, *settings, start_workers);
  if (!list) return fail(list.error());
  list->file = flags.the_case;
  const std::string text = flags.run.json ? checklist_json(*list) : checklist_text(*list);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return list->has_failed() ? 1 : 0;
}

}  // namespace dsafuzz
