// `debug`: one case as a program of its own, run under a debugging tool with a complete environment; what the tool saw
// becomes a first fault, what follows from it, and the user's own line.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "fuzz/atomic_file.h"
#include "fuzz/case_file.h"
#include "fuzz/child_process.h"
#include "fuzz/commands.h"
#include "fuzz/find_debugger.h"
#include "fuzz/own_kernels.h"
#include "repro/debug_report.h"
#include "repro/read_file.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kOutputLimit = std::size_t{16} << 20;
constexpr std::size_t kModuleLimit = std::size_t{1} << 30;
constexpr const char* kProgram = "program.py";

std::string variable(const char* name, const std::string& otherwise = "") {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// What the settings decide; where things lie is left out.
bool matters(const std::string& variable) {
  for (const char* prefix : {"CUDA_LAUNCH", "CUDA_ENABLE", "CUDA_COREDUMP", "TORCH_", "PYTORCH_", "DSAFUZZ_VCUDA_TOOL",
                             "DSAFUZZ_VCUDA_CACHING"}) {
    if (variable.starts_with(prefix)) return true;
  }
  return false;
}

std::vector<std::string> whole_environment(const RunSettings& settings) {
  std::vector<std::string> out = environment_of(settings, environ);
  // Where the virtual device's module and libraries are.
  for (const char* name : {"PYTHONPATH", "DSAFUZZ_VCUDA_LIBRARY", "DSAFUZZ_OPS_LIBRARY"}) {
    if (const std::string value = variable(name); !value.empty()) out.push_back(std::string(name) + "=" + value);
  }
  return out;
}

DebugOutput run_one(const DebugRun& run) {
  DebugOutput out;
  out.what = run.what;
  out.debugger = run.debugger;
  std::vector<std::string> environment = whole_environment(run.settings);
  for (const std::string& each : environment) {
    if (!matters(each)) continue;
    out.environment.push_back(each);
    out.command += shell_word(each) + " ";
  }
  for (std::size_t i = 0; i < run.argv.size(); ++i) out.command += (i ? " " : "") + shell_word(run.argv[i]);
  const ChildResult child = run_child_alone(run.argv, std::move(environment), run.settings.time_limit, kOutputLimit);
  out.timed_out = child.timed_out;
  out.exit_code = child.started ? child.exit_code : 127;
  out.output = child.output;
  return out;
}

// The program says so in one line where its device is missing.
Result<void> could_run(const DebugOutput& run, const Device& device) {
  const std::string mark = std::string(kCannotRun) + device.text() + ": ";
  const std::size_t at = run.output.find(mark);
  if (at == std::string::npos) return {};
  std::string why = run.output.substr(at + mark.size());
  // Behind it stands the C++ stack, if that was asked for.
  for (const char* end : {"\n", " Exception raised from "}) why = why.substr(0, why.find(end));
  why = why.substr(0, 300);
  return environment_problem("the case cannot run here: " + why, device.text(),
                             device.kind == Device::Kind::cuda
                                 ? "run it on a machine with a GPU; `dsafuzz doctor` says what is missing; or use "
                                   "--device vcuda"
                                 : "run scripts/dsafuzz, which says where the virtual device is");
}

Result<void> write_inputs(const Case& c, const RunSettings& settings, const DebugProgram& program,
                          const DebugPlan& plan, const DebugPaths& paths) {
  DSAFUZZ_CHECK(make_folder(paths.folder));
  DSAFUZZ_CHECK(write_whole(paths.program, program.text));
  for (const auto& [path, content] : plan.scripts) DSAFUZZ_CHECK(write_whole(path, content));
  for (const Step& step : c.steps) {
    if (!step.op.starts_with("module:")) continue;
    const std::string name = step.op.substr(std::string_view("module:").size());
    const std::string content = DSAFUZZ_TRY(read_file(settings.modules + "/" + name, kModuleLimit));
    DSAFUZZ_CHECK(write_whole(paths.folder + "/" + name, content));
  }
  if (!plan.core.empty()) remove_all(plan.core);
  return {};
}

// A version manager's `python3` is a script that starts the right one; tools want the program itself, and its wheels
// lie beside that. What does not start is named by whoever needs it.
std::string program_behind(const std::string& python) {
  const ChildResult child =
      run_child({python, "-c", "import sys; print(sys.executable)"}, {}, std::chrono::seconds(20));
  const std::string line = child.output.substr(0, child.output.find('\n'));
  return child.exit_code == 0 && !line.empty() && fs::path(line).is_absolute() ? line : python;
}

Result<DebugReport> debug(const DebugFlags& flags) {
  const auto tool = parse_debug_tool(flags.tool);
  if (!tool)
    return input_problem("'" + flags.tool.substr(0, 40) + "' is not a debugging tool", "--tool", kDebugToolWords);
  const RunSettings asked = DSAFUZZ_TRY(settings_of(flags.run, true));
  DSAFUZZ_CHECK(check_kernels_are_atens(asked.device));
  if (asked.device.kind == Device::Kind::cpu) {
    return input_problem("the CPU has no kernels to debug", "--device", "vcuda, vcuda:N or cuda:N");
  }
  const CaseFile file = DSAFUZZ_TRY(load_runnable_case(flags.the_case));
  RunSettings settings = settings_for(file, asked);
  settings.device = asked.device;  // one is chosen here, whatever an expectation was written for

  DebugPaths paths;
  std::error_code ignored;
  paths.python = program_behind(variable("DSAFUZZ_PYTHON", "python3"));
  paths.folder =
      fs::absolute(fs::path(flags.out) / "debug" / (file.the_case.scenario + "-" + std::string(to_text(*tool))),
                   ignored)
          .lexically_normal()
          .string();
  paths.program = paths.folder + "/" + kProgram;
  paths.vcuda_library = variable("DSAFUZZ_VCUDA_LIBRARY", "libdsafuzz_vcuda.so");
  const bool real = settings.device.kind == Device::Kind::cuda;
  if (const std::string name(program_of(*tool, settings.device)); !name.empty()) {
    const auto found = find_debugger(name, paths.python);
    if (found) {
      paths.tool = *found;
    } else if (!real || *tool != DebugTool::coredump) {
      return std::unexpected(found.error());
    }
  }

  const DebugProgram program = debug_program(file.the_case);
  const DebugPlan plan = plan_debug(*tool, settings, paths);
  DSAFUZZ_CHECK(write_inputs(file.the_case, settings, program, plan, paths));
  DebugReport report;
  report.case_file = file.path;
  report.case_name = file.the_case.scenario;
  report.id = case_id(file.the_case);
  report.tool = *tool;
  report.device = settings.device;
  report.folder = paths.folder;
  for (const DebugRun& run : plan.runs) {
    if (!run.needs_file.empty() && !fs::exists(run.needs_file, ignored)) continue;
    const DebugOutput output = run_one(run);
    DSAFUZZ_CHECK(could_run(output, settings.device));
    if (output.exit_code == 127) return environment_problem(output.output.substr(0, 300), run.argv[0]);
    std::string log = "log-" + std::to_string(report.runs.size() + 1) + ".txt";
    DSAFUZZ_CHECK(write_whole(paths.folder + "/" + log, output.output));
    report.runs.push_back(read_debug_run(output, program, kProgram));
  }
  if (!plan.core.empty() && fs::exists(plan.core, ignored)) report.core = plan.core;
  judge_debug_runs(file.the_case, report);
  if (!report.failed.empty()) {
    // A tool that finds no GPU says so in its own words, or not at all; the program alone says it plainly.
    if (real) {
      DSAFUZZ_CHECK(could_run(run_one(plan_debug(DebugTool::dsa, settings, paths).runs[0]), settings.device));
    }
    return environment_problem("the tool could not watch the program: " + report.failed.substr(0, 300),
                               paths.tool.empty() ? paths.python : paths.tool,
                               (real ? "is there a GPU? `dsafuzz doctor` says; the" : std::string("the")) +
                                   " whole output is in " + paths.folder);
  }
  if (real && *tool == DebugTool::coredump && paths.tool.empty() && !report.core.empty()) {
    report.notes.emplace_back("cuda-gdb is not installed, so the dump was not opened: cuda-gdb -ex 'target cudacore " +
                              report.core + "'");
  }
  return report;
}

}  // namespace

int debug_command(const DebugFlags& flags) {
  const auto report = debug(flags);
  if (!report) return fail(report.error());
  std::fputs((flags.run.json ? debug_json(*report) : debug_text(*report)).c_str(), stdout);
  if (report->diagnosis.signature.verdict == Verdict::setup_failed) return 3;
  return report->fault() ? 1 : 0;
}

}  // namespace dsafuzz
