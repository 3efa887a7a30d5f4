// The grid that runs now, and the host threads that run it: what the launch loop, the access check and the reports
// share. One grid at a time exists; the lock in launch.cpp guards it.
#pragma once

#include <array>
#include <csetjmp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/vcuda/launch.h"
#include "kernels/vcuda/local_arrays.h"
#include "kernels/vcuda/runtime.h"
#include "kernels/vcuda/shadow.h"

namespace vcuda {

class Written;

// Does not change while the grid runs.
struct Grid {
  int device = 0;
  const char* kernel = nullptr;  // the launch's KERNEL text, as written
  bool barriers = false;
  Tool tool = Tool::memcheck;
  Written* written = nullptr;  // of the device's arena
};
extern Grid grid;

// What a run of consecutive blocks said. In the order of blocks these make up the grid's.
struct BlocksResult {
  Error failure = Error::none;  // the first one
  bool ended_grid = false;      // by a fault: blocks after these do not count
  std::string printed;          // goes to stderr in one write when the grid ends
  std::string report;           // then this, of a fault or a tool
  std::string said;             // then this to stdout: what the kernel itself printed
};

// A host thread that runs blocks.
struct Runner {
  explicit Runner(const shadow::Range& own_stack) : stack(own_stack), locals(own_stack) {}

  shadow::Range stack;
  LocalArrays locals;                         // on `stack`
  shadow::Range closure;                      // the kernel's arguments
  std::uint32_t barriers = 0;                 // that the block has passed
  std::uintptr_t frames = 0;                  // kernels' frames lie below it
  std::array<shadow::Range, 4> own_shared{};  // arrays of this grid's kernel met lately, so that a name is read once
  std::size_t next_shared = 0;                // of them, to be replaced next
  std::optional<bool> arrays_fine;            // what the first thread found (once_a_grid)
  BlocksResult result;
  std::jmp_buf end;  // without barriers: where the end of a thread or of the grid jumps to
};
// Null while this host thread runs no kernel.
VCUDA_KERNEL_SIDE extern constinit thread_local Runner* runner VCUDA_STATIC_TLS;

inline bool in_kernel() { return runner != nullptr; }

// Moves on to the next of the blocks that this host thread runs. False after the last one.
bool next_block(ThreadState& state);

// Ends the device thread, or the whole grid, without unwinding. Requires: in_kernel().
[[noreturn]] void end_thread();
[[noreturn]] void end_grid();

// A tool's finding: told once a grid, which goes on. Requires: in_kernel().
inline bool tool_has_told() { return !runner->result.report.empty(); }
void tell(const std::string& report);

// Tells of what racecheck still had to judge when the last thread ended. Requires: in_kernel().
void finish_races();

// "(at::native::kernel<float, 4>)" is `kernel`.
std::string_view short_kernel_name(const char* text);

}  // namespace vcuda
