// What `dsafuzz debug` would run: a table of tools and devices with their commands, environments and scripts.
#include "repro/debug_plan.h"

#include <gmock/gmock.h>

namespace dsafuzz {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSubsetOf;
using testing::Not;

DebugPaths paths() {
  return {.python = "/v/bin/python",
          .program = "/o/program.py",
          .folder = "/o",
          .tool = "/t/tool",
          .vcuda_library = "/b/lib/libdsafuzz_vcuda.so"};
}

DebugPlan plan(DebugTool tool, const char* device) {
  RunSettings settings;
  settings.device = *parse_device(device);
  return plan_debug(tool, settings, paths());
}

TEST(DebugTool, TextsAreInverses) {
  for (const char* text :
       {"blocking", "stacks", "dsa", "memcheck", "racecheck", "initcheck", "synccheck", "cuda-gdb", "coredump"}) {
    const auto tool = parse_debug_tool(text);
    ASSERT_TRUE(tool) << text;
    EXPECT_EQ(to_text(*tool), text);
    EXPECT_THAT(std::string(kDebugToolWords), HasSubstr(text));
  }
  for (const char* text : {"", "gdb", "cuda_gdb", "Memcheck", "none"}) EXPECT_FALSE(parse_debug_tool(text)) << text;
}

TEST(DebugPlan, HasACommandAndAnEnvironmentForEachTool) {
  struct Row {
    DebugTool tool;
    const char* device;
    std::string program;                          // that must be installed
    std::vector<std::vector<std::string>> argvs;  // a subset of each run's words, in order of the runs
    std::vector<std::vector<std::string>> environments;
  };
  const std::vector<std::string> real{"/v/bin/python", "-X", "faulthandler", "/o/program.py", "cuda:1"},
      virtual_{"/v/bin/python", "/o/program.py", "vcuda"};
  const std::string blocking = "CUDA_LAUNCH_BLOCKING=1";
  const std::string dump = "CUDA_COREDUMP_FILE=/o/core.nvcudmp";
  const Row rows[] = {
      {DebugTool::blocking, "cuda:1", "", {real, real}, {{}, {blocking}}},
      {DebugTool::blocking, "vcuda", "", {virtual_, virtual_}, {{}, {blocking}}},
      {DebugTool::stacks, "cuda:1", "", {real}, {{blocking, "TORCH_SHOW_CPP_STACKTRACES=1"}}},
      {DebugTool::dsa, "cuda:1", "", {real}, {{"PYTORCH_USE_CUDA_DSA=1", "TORCH_USE_CUDA_DSA=1"}}},
      {DebugTool::memcheck,
       "cuda:1",
       "compute-sanitizer",
       {{"/t/tool", "--tool", "memcheck", "--target-processes", "all", "/v/bin/python", "cuda:1"}},
       {{blocking, "PYTORCH_NO_CUDA_MEMORY_CACHING=1"}}},
      {DebugTool::racecheck, "cuda:1", "compute-sanitizer", {{"--tool", "racecheck"}}, {{blocking}}},
      {DebugTool::initcheck, "vcuda", "", {virtual_}, {{blocking, "DSAFUZZ_VCUDA_TOOL=initcheck"}}},
      {DebugTool::synccheck, "vcuda", "", {virtual_}, {{"DSAFUZZ_VCUDA_TOOL=synccheck"}}},
      {DebugTool::cuda_gdb,
       "cuda:1",
       "cuda-gdb",
       {{"/t/tool", "--batch", "-x", "/o/commands.gdb", "--args", "/v/bin/python", "cuda:1"}},
       {{blocking}}},
      {DebugTool::cuda_gdb, "vcuda", "gdb", {{"/t/tool", "--batch", "-x", "/o/commands.gdb", "--args"}}, {{blocking}}},
      {DebugTool::coredump,
       "cuda:1",
       "cuda-gdb",
       {real, {"/t/tool", "--batch", "/o/core.gdb"}},
       {{"CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1", dump}, {}}},
      {DebugTool::coredump,
       "vcuda",
       "gdb",
       {{"/o/commands.gdb", "--args"}, {"/o/core.gdb", "/o/core"}},
       {{blocking}, {}}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(to_text(row.tool)) + " on " + row.device);
    EXPECT_EQ(program_of(row.tool, *parse_device(row.device)), row.program);
    const DebugPlan made = plan(row.tool, row.device);
    ASSERT_EQ(made.runs.size(), row.argvs.size());
    for (std::size_t i = 0; i < made.runs.size(); ++i) {
      EXPECT_THAT(row.argvs[i], IsSubsetOf(made.runs[i].argv));
      EXPECT_THAT(row.environments[i], IsSubsetOf(environment_of(made.runs[i].settings, nullptr)));
    }
  }
  // The first run is there to be late.
  EXPECT_THAT(environment_of(plan(DebugTool::blocking, "vcuda").runs[0].settings, nullptr), Not(Contains(blocking)));
  // Only a run that finds a dump opens one.
  EXPECT_EQ(plan(DebugTool::coredump, "cuda:1").runs[1].needs_file, "/o/core.nvcudmp");
}

TEST(DebugPlan, WithoutADebuggerAGpusCoreDumpIsMadeAndNotOpened) {
  DebugPaths without = paths();
  without.tool.clear();
  RunSettings settings;
  settings.device = *parse_device("cuda:0");
  EXPECT_EQ(plan_debug(DebugTool::coredump, settings, without).runs.size(), 1);
}

TEST(DebugPlan, ScriptsAskForWhatTheReportNeeds) {
  struct Row {
    DebugTool tool;
    const char* device;
    std::vector<std::string> commands;
  };
  const Row rows[] = {
      {DebugTool::cuda_gdb, "cuda:0", {"\nrun\n", "\nbacktrace 40\n", "\ninfo locals\n", "\ninfo cuda kernels\n"}},
      {DebugTool::cuda_gdb,
       "vcuda",
       {"catch load libdsafuzz_vcuda.so\n", "break append_assert_line\n", "break vcuda::end_grid\n",
        "frame apply 12 -s info locals -q\n"}},
      {DebugTool::coredump, "cuda:0", {"target cudacore /o/core.nvcudmp\n", "\nbacktrace 40\n"}},
      {DebugTool::coredump, "vcuda", {"generate-core-file /o/core\n", "coredump_filter"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(to_text(row.tool)) + " on " + row.device);
    const DebugPlan made = plan(row.tool, row.device);
    ASSERT_FALSE(made.scripts.empty());
    for (const std::string& command : row.commands) EXPECT_THAT(made.scripts.front().second, HasSubstr(command));
  }
}

}  // namespace
}  // namespace dsafuzz
