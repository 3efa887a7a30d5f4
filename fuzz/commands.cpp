#include "fuzz/commands.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace dsafuzz {

Result<RunSettings> settings_of(const RunFlags& flags, bool blocking) {
  RunSettings settings;
  settings.device = DSAFUZZ_TRY(parse_device(flags.device));
  settings.tool = parse_tool(flags.tool);
  if (!settings.tool && !flags.tool.empty())
    return input_problem("'" + flags.tool + "' is not a tool", "--tool", kToolWords);
  settings.blocking = blocking;
  settings.caching = flags.caching;
  settings.cpp_stacks = flags.cpp_stacks;
  settings.modules = flags.modules;
  settings.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(flags.time_limit * 1000));
  return settings;
}

std::string folder_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

std::string shipped_folder(const std::string& name) {
  const char* root = std::getenv("DSAFUZZ_ROOT");
  return root ? std::string(root) + "/" + name : name;
}

int fail(const Problem& problem) {
  std::fprintf(stderr, "dsafuzz: %s\n", problem.text().c_str());
  return problem.exit_code();
}

}  // namespace dsafuzz
