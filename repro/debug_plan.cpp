#include "repro/debug_plan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dsafuzz {
namespace {

constexpr std::array kTools{DebugTool::blocking,  DebugTool::stacks,    DebugTool::dsa,
                            DebugTool::memcheck,  DebugTool::racecheck, DebugTool::initcheck,
                            DebugTool::synccheck, DebugTool::cuda_gdb,  DebugTool::coredump};

// What both debuggers are told first: no questions, no colours, no lines cut, no news of threads.
constexpr std::string_view kQuiet =
    "set pagination off\n"
    "set confirm off\n"
    "set width 0\n"
    "set print thread-events off\n";

// The frames, and what the innermost hold: a kernel, what it calls and what it failed in are no deeper. Frames without
// debug information print nothing.
std::string show_frames() {
  return "set print frame-arguments none\n"
         "frame apply 24 -q -s frame\n"
         "printf \"\\n" +
         std::string(kArgumentsMark) +
         "\\n\"\n"
         "frame apply 12 -s info args -q\n"
         "printf \"\\n" +
         std::string(kLocalsMark) +
         "\\n\"\n"
         "frame apply 12 -s info locals -q\n";
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The library's symbols are read and no other's: those of LibTorch take longer than all the rest. It is loaded long
// after the start, so the script waits for that. Every failing thread passes one of the three functions.
std::string host_gdb_script(const std::string& library, const std::string& core) {
  std::string out(kQuiet);
  out +=
      "set breakpoint pending on\n"
      "set auto-solib-add off\n";
  if (!core.empty()) {
    // Private memory only: libraries are on the disk, and what the device reserves is not asked for.
    out += "set exec-wrapper /bin/sh -c 'echo 0x1 > /proc/self/coredump_filter; exec \"$0\" \"$@\"'\n";
  }
  out += "catch load " + name_of(library) +
         "\n"
         "run\n"
         "sharedlibrary " +
         name_of(library) +
         "\n"
         "delete\n"
         "break append_assert_line\n"
         "break vcuda::end_grid\n"
         "break vcuda::tell\n"
         "continue\n"
         // Thread-local variables are found through the C library.
         "sharedlibrary libc.so\n"
         "set $thread = (unsigned int*)&'vcuda::current_thread_state'\n"
         "printf \"\\n" +
         std::string(kStopMark) +
         ": block (%u,%u,%u), thread (%u,%u,%u)\\n\", $thread[3], $thread[4], $thread[5], $thread[0], $thread[1], "
         "$thread[2]\n"
         "delete\n" +
         show_frames();
  if (!core.empty()) out += "generate-core-file " + core + "\n";
  out += "continue\n";
  return out;
}

std::string host_core_script(const std::string& library) {
  return std::string(kQuiet) + "sharedlibrary " + name_of(library) + "\nprintf \"\\n" + std::string(kStopMark) +
         "\\n\"\n" + show_frames();
}

// cuda-gdb stops by itself at a failed assert and at an exception, and goes to that thread.
std::string cuda_gdb_script() {
  return std::string(kQuiet) +
         "set breakpoint pending on\n"
         "run\n"
         "info cuda kernels\n"
         "backtrace 40\n"
         "info locals\n"
         "info args\n"
         "info cuda threads\n"
         // An assert stops inside __assertfail; the kernel is its caller. Another fault stops in the kernel, where this
         // is an error and ends the script.
         "up\n"
         "info locals\n"
         "info args\n"
         "kill\n";
}

std::string cuda_core_script(const std::string& core) {
  return std::string(kQuiet) + "target cudacore " + core +
         "\ninfo cuda kernels\nbacktrace 40\ninfo locals\ninfo args\ninfo cuda threads\n";
}

std::vector<std::string> batch(const DebugPaths& paths, const std::string& script) {
  return {paths.tool, "--batch", "-nx", "-iex", "set auto-load off", "-x", script};
}

// Freeing memory after a fault may abort the process: then only Python's fault handler names the line.
std::vector<std::string> command_of(const DebugPaths& paths, const Device& device) {
  return {paths.python, "-X", "faulthandler", paths.program, device.text()};
}

std::vector<std::string> joined_words(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

std::string_view to_text(DebugTool tool) {
  switch (tool) {
    case DebugTool::blocking: return "blocking";
    case DebugTool::stacks: return "stacks";
    case DebugTool::dsa: return "dsa";
    case DebugTool::memcheck: return "memcheck";
    case DebugTool::racecheck: return "racecheck";
    case DebugTool::initcheck: return "initcheck";
    case DebugTool::synccheck: return "synccheck";
    case DebugTool::cuda_gdb: return "cuda-gdb";
    case DebugTool::coredump: return "coredump";
  }
  std::unreachable();
}

std::optional<DebugTool> parse_debug_tool(std::string_view text) {
  const auto found = std::ranges::find(kTools, text, [](DebugTool tool) { return to_text(tool); });
  return found == kTools.end() ? std::nullopt : std::optional(*found);
}

std::optional<Tool> sanitizer_of(DebugTool tool) {
  switch (tool) {
    case DebugTool::memcheck: return Tool::memcheck;
    case DebugTool::racecheck: return Tool::racecheck;
    case DebugTool::initcheck: return Tool::initcheck;
    case DebugTool::synccheck: return Tool::synccheck;
    default: return std::nullopt;
  }
}

std::string_view program_of(DebugTool tool, const Device& device) {
  const bool real = device.kind == Device::Kind::cuda;
  if (sanitizer_of(tool)) return real ? "compute-sanitizer" : "";
  if (tool == DebugTool::cuda_gdb || tool == DebugTool::coredump) return real ? "cuda-gdb" : "gdb";
  return "";
}

DebugPlan plan_debug(DebugTool tool, const RunSettings& settings, const DebugPaths& paths) {
  const bool real = settings.device.kind == Device::Kind::cuda;
  const std::vector<std::string> command = command_of(paths, settings.device);
  RunSettings blocking = settings;
  blocking.blocking = true;
  DebugPlan plan;
  const auto run = [&](std::string what, std::vector<std::string> argv, const RunSettings& with) {
    plan.runs.push_back({std::move(what), std::move(argv), with, false, {}});
  };
  const auto debugger = [&](std::string what, std::vector<std::string> argv, const RunSettings& with,
                            std::string needs_file = {}) {
    plan.runs.push_back({std::move(what), std::move(argv), with, true, std::move(needs_file)});
  };
  const auto script = [&](const char* name, std::string content) {
    plan.scripts.emplace_back(paths.folder + "/" + name, std::move(content));
    return plan.scripts.back().first;
  };
  switch (tool) {
    case DebugTool::blocking: {
      RunSettings late = settings;
      late.blocking = false;
      run("asynchronous", command, late);
      run("blocking", command, blocking);
      break;
    }
    case DebugTool::stacks:
      blocking.cpp_stacks = true;
      run("with C++ stacks", command, blocking);
      break;
    case DebugTool::dsa:
      blocking.dsa = true;
      run("with device-side assertions", command, blocking);
      break;
    case DebugTool::memcheck:
    case DebugTool::racecheck:
    case DebugTool::initcheck:
    case DebugTool::synccheck: {
      const std::string name(to_text(tool));
      if (real) {
        blocking.tool = std::nullopt;
        run(name,
            joined_words({paths.tool, "--tool", name, "--target-processes", "all", "--show-backtrace", "yes",
                          "--print-limit", "100"},
                         command),
            blocking);
      } else {
        blocking.tool = sanitizer_of(tool);
        run(name, command, blocking);
      }
      break;
    }
    case DebugTool::cuda_gdb: {
      const std::string path =
          script("commands.gdb", real ? cuda_gdb_script() : host_gdb_script(paths.vcuda_library, ""));
      debugger(real ? "under cuda-gdb" : "under gdb",
               joined_words(joined_words(batch(paths, path), {"--args"}), command), blocking);
      break;
    }
    case DebugTool::coredump:
      if (real) {
        plan.core = paths.folder + "/core.nvcudmp";
        RunSettings dumping = blocking;
        dumping.core_dump = plan.core;
        run("until the core dump", command, dumping);
        if (!paths.tool.empty()) {
          debugger("the core dump", batch(paths, script("core.gdb", cuda_core_script(plan.core))), settings, plan.core);
        }
      } else {
        plan.core = paths.folder + "/core";
        const std::string path = script("commands.gdb", host_gdb_script(paths.vcuda_library, plan.core));
        debugger("until the core dump", joined_words(joined_words(batch(paths, path), {"--args"}), command), blocking);
        std::vector<std::string> open = batch(paths, script("core.gdb", host_core_script(paths.vcuda_library)));
        open.insert(open.begin() + 5, {"-iex", "set auto-solib-add off"});
        debugger("the core dump", joined_words(std::move(open), {paths.python, plan.core}), settings, plan.core);
      }
      break;
  }
  return plan;
}

}  // namespace dsafuzz
