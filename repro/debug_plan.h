// What `dsafuzz debug` runs for each tool: commands, their settings, and scripts for the debuggers. A GPU is looked at
// with NVIDIA's tools, the virtual device with its own and with gdb. Pure: nothing is started here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repro/run_settings.h"

namespace dsafuzz {

enum class DebugTool : std::uint8_t {
  blocking,  // with and without CUDA_LAUNCH_BLOCKING, side by side
  stacks,    // the C++ stack of the failing launch
  dsa,       // TORCH_USE_CUDA_DSA
  memcheck,  // compute-sanitizer's four
  racecheck,
  initcheck,
  synccheck,
  cuda_gdb,
  coredump,
};
std::string_view to_text(DebugTool tool);  // "cuda-gdb"
std::optional<DebugTool> parse_debug_tool(std::string_view text);
inline constexpr const char* kDebugToolWords =
    "blocking, stacks, dsa, memcheck, racecheck, initcheck, synccheck, cuda-gdb or coredump";

// compute-sanitizer's tool, and vcuda's of the same name; nullopt for the others.
std::optional<Tool> sanitizer_of(DebugTool tool);
// The program that must be installed: "compute-sanitizer", "cuda-gdb", "gdb"; empty if none.
std::string_view program_of(DebugTool tool, const Device& device);

struct DebugPaths {
  std::string python, program;  // the interpreter and the case's program
  std::string folder;           // for scripts and core dumps
  std::string tool;             // what program_of() names, where it was found; may be empty
  std::string vcuda_library;    // its path or its name
};

struct DebugRun {
  std::string what;               // "asynchronous", "blocking", "the core dump"
  std::vector<std::string> argv;  // the command
  RunSettings settings;           // decide its environment
  bool debugger = false;          // a debugger's exit code is not the program's
  std::string needs_file;         // run only if this file is there by then; empty: always
};

struct DebugPlan {
  std::vector<DebugRun> runs;                                // in order
  std::vector<std::pair<std::string, std::string>> scripts;  // path and content, to be written before
  std::string core;                                          // the dump that a run writes; empty: none
};

// `settings` say the device and what the case wants else. Requires: the device is not the CPU; paths.tool is there for
// a tool that needs one (for coredump on a GPU it may be empty: the dump is then made and not opened).
DebugPlan plan_debug(DebugTool tool, const RunSettings& settings, const DebugPaths& paths);

// What gdb prints where the script stopped in a failing device thread, and ahead of its frames' arguments and locals.
inline constexpr std::string_view kStopMark = "[dsafuzz] stopped in the kernel";
inline constexpr std::string_view kArgumentsMark = "[dsafuzz] arguments";
inline constexpr std::string_view kLocalsMark = "[dsafuzz] locals";

}  // namespace dsafuzz
