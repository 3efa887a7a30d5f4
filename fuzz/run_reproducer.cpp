#include "fuzz/run_reproducer.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fuzz/child_process.h"

namespace dsafuzz {
namespace {

using std::chrono::milliseconds;
namespace fs = std::filesystem;

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

RunReport report_of(const ChildResult& child) {
  RunReport report;
  report.ran = child.started && !child.timed_out && child.exit_code >= 0;
  report.exit_code = child.exit_code;
  report.said = child.output.substr(0, 2000);
  if (child.timed_out) report.said += "\nit did not end in time";
  return report;
}

constexpr std::string_view kBuilds = "dsafuzz-build-";

// Where reproducers are built: named after this process, so that what a killed one left behind is known and removed.
std::string build_folder() {
  std::error_code ignored;
  const fs::path all = fs::temp_directory_path(ignored);
  for (fs::directory_iterator at(all, ignored), end; !ignored && at != end; at.increment(ignored)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(kBuilds)) continue;
    const int process = std::atoi(name.c_str() + kBuilds.size());
    if (process > 0 && !is_alive(process)) fs::remove_all(at->path(), ignored);
  }
  std::string name = (all / (std::string(kBuilds) + std::to_string(getpid()) + "-XXXXXX")).string();
  return mkdtemp(name.data()) ? name : std::string();
}

std::string content_of(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

}  // namespace

ProcessReproducerRunner::~ProcessReproducerRunner() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

RunReport ProcessReproducerRunner::run_python(const std::string& path, const Device& device) {
  return report_of(run_child({setting("DSAFUZZ_PYTHON", "python3"), path, device.text()},
                             {"CUDA_LAUNCH_BLOCKING=1", "OMP_NUM_THREADS=1"}, milliseconds(120'000)));
}

RunReport ProcessReproducerRunner::run_cpp(const std::string& folder, const Device& device) {
  RunReport report;
  const std::string program = build(folder, report.said);
  if (program.empty()) return report;
  return report_of(
      run_child({program, device.text()}, {"CUDA_LAUNCH_BLOCKING=1", "OMP_NUM_THREADS=1"}, milliseconds(60'000)));
}

std::string ProcessReproducerRunner::build(const std::string& folder, std::string& said) {
  const fs::path source = fs::path(folder) / "repro.cpp";
  std::string text = content_of(source);
  if (!program_.empty() && text == built_from_) return program_;
  if (temporary_.empty()) {
    temporary_ = build_folder();
    if (temporary_.empty()) {
      said = "no temporary folder for the build";
      return {};
    }
  }
  const std::string torch = setting("DSAFUZZ_TORCH_DIR", DSAFUZZ_DEFAULT_TORCH_DIR);
  const std::string program = temporary_ + "/repro";
  std::vector<std::string> command{setting("DSAFUZZ_CXX", DSAFUZZ_DEFAULT_CXX)};
  for (const char* flag : {DSAFUZZ_REPRODUCER_FLAGS}) command.emplace_back(flag);
  command.insert(command.end(),
                 {"-isystem", torch + "/include", "-isystem", torch + "/include/torch/csrc/api/include"});
  // The same headers, compiled ahead: a reproducer then builds in seconds. It is only an accelerator.
  const std::string precompiled = setting("DSAFUZZ_REPRODUCER_PCH", DSAFUZZ_DEFAULT_PCH);
  if (fs::exists(precompiled)) command.insert(command.end(), {"-include-pch", precompiled});
  command.insert(command.end(), {source.string(), "-o", program, "-L" + torch + "/lib", "-Wl,-rpath," + torch + "/lib",
                                 "-Wl,--no-as-needed", "-ltorch_cpu", "-lc10", "-ldl"});
  const ChildResult compiled = run_child(command, {}, milliseconds(300'000));
  if (!compiled.started || compiled.exit_code != 0) {
    said = "repro.cpp does not compile: " + compiled.output.substr(0, 2000);
    return {};
  }
  built_from_ = std::move(text);
  program_ = program;
  return program_;
}

}  // namespace dsafuzz
