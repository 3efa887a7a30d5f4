// `dsafuzz report`: becomes scripts/report, with the Python that has what it needs.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "fuzz/commands.h"

namespace dsafuzz {
namespace {

// DSAFUZZ_PYTHON, else the project's own, else the one in PATH.
std::string python() {
  const char* given = std::getenv("DSAFUZZ_PYTHON");
  if (given && *given) return given;
  const std::string own = shipped_folder(".venv/bin/python");
  std::error_code ignored;
  return std::filesystem::exists(own, ignored) ? own : "python3";
}

}  // namespace

int report_command(const ReportFlags& flags) {
  const std::string script = shipped_folder("scripts/report");
  std::error_code ignored;
  if (!std::filesystem::exists(script, ignored)) {
    return fail(environment_problem("is not there", script, "set DSAFUZZ_ROOT to the folder of dsafuzz").error());
  }
  std::vector<std::string> arguments{python(), script};
  if (!flags.html.empty()) arguments.push_back("--html=" + flags.html);
  if (!flags.markdown.empty()) arguments.push_back("--markdown=" + flags.markdown);
  if (!flags.tensorboard.empty()) arguments.push_back("--tensorboard=" + flags.tensorboard);
  if (flags.follow) arguments.emplace_back("--follow");
  if (!flags.database) arguments.emplace_back("--no-database");
  arguments.insert(arguments.end(), {"--", flags.out});
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  return fail(environment_problem("Python cannot be started: " + std::string(std::strerror(errno)), arguments[0],
                                  "run scripts/setup, or set DSAFUZZ_PYTHON")
                  .error());
}

}  // namespace dsafuzz
