// The grid that runs now: what the launch loop, the access check and the reports share. One at a time exists; the
// lock in launch.cpp guards it, and only the host thread that runs it touches it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/vcuda/launch.h"
#include "kernels/vcuda/runtime.h"

namespace vcuda {

struct Grid {
  // The host thread that runs it, or 0. Other threads ask too, and may only learn that they are not the one.
  std::atomic<pthread_t> host = 0;
  int device = 0;
  const char* kernel = nullptr;  // the launch's KERNEL text, as written
  bool barriers = false;
  Error failure = Error::none;  // the first one
  std::string printed;          // goes to stderr in one write when the grid ends
  std::string said;             // then this to stdout: what the kernel itself printed
  std::jmp_buf end;             // without barriers: where the end of a thread or of the grid jumps to
};
extern Grid grid;

// The kernel runs on this host thread.
inline bool in_kernel() { return grid.host.load(std::memory_order_relaxed) == pthread_self(); }

// Ends the device thread, or the whole grid, without unwinding. Requires: in_kernel().
[[noreturn]] void end_thread();
[[noreturn]] void end_grid();

// "(at::native::kernel<float, 4>)" is `kernel`.
std::string_view short_kernel_name(const char* text);

}  // namespace vcuda
