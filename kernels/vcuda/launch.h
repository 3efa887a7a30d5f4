// How a grid runs on the host. Kernels without barriers are a plain loop over blocks and threads; kernels with
// barriers give each thread of a block a fiber (Boost.Context). A thread whose assert fails prints CUDA's line
// and ends; the other threads of the grid go on, as on a GPU. An illegal access ends the whole grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <type_traits>

namespace vcuda {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr Dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  friend constexpr bool operator==(const Dim3&, const Dim3&) = default;
};

// A stream's number; 0 is the default stream of the current device. Streams are made in runtime.h.
using Stream = int;

// Where a device assert stands: what CUDA prints of it, all literals.
struct AssertSite {
  const char* file;  // as printed, e.g. "/pytorch/aten/src/ATen/native/cuda/Loss.cu"
  unsigned line;
  const char* function;
  const char* condition;
  // By what they say: a template's instances are one site.
  friend bool operator==(const AssertSite& a, const AssertSite& b) {
    return a.line == b.line && std::string_view(a.file) == b.file && std::string_view(a.function) == b.function &&
           std::string_view(a.condition) == b.condition;
  }
};

enum class Access : std::uint8_t { read, write, atomic };

// The device thread that runs now. One grid at a time runs in the whole process (a second host thread waits), so
// this and the kernels' shared memory are plain statics: thread-local ones would cost a call at every access, and
// would need static TLS that a library loaded by Python cannot have.
struct ThreadState {
  Dim3 thread, block, block_size, grid_size;
};

// What kernels call lives in the kernels' own library, so none of it goes through a symbol table.
#define VCUDA_KERNEL_SIDE __attribute__((visibility("hidden")))

VCUDA_KERNEL_SIDE extern ThreadState current_thread_state;
inline ThreadState& current_thread() { return current_thread_state; }

// Counts the site as reached (a coverage feature).
VCUDA_KERNEL_SIDE void reach(const AssertSite& site);

// Prints the assert line, poisons the device's context and ends this device thread. Requires: a kernel is running.
[[noreturn]] VCUDA_KERNEL_SIDE void fail(const AssertSite& site);

// As fail(), and first prints the site and a message to standard output, as a kernel's printf does: ATen's assert with
// a message. `format` and what follows it are printf's; 512 bytes of the message are kept.
[[noreturn]] VCUDA_KERNEL_SIDE void fail_saying(const AssertSite& site, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// As fail(), with `message` in the condition's place. It is copied, at most 255 characters of it, before the thread
// ends, so it may lie in the thread's own memory.
[[noreturn]] VCUDA_KERNEL_SIDE void fail_with_message(const AssertSite& site, const char* message);

// The check behind every load and store of a kernel: returns, or records the fault and ends the grid.
// `address` must be aligned to `bytes` when that is a power of two up to 16. Outside a kernel everything passes.
VCUDA_KERNEL_SIDE void check_access(const void* address, std::size_t bytes, Access access);

// __syncthreads(). Requires: launched with launch_with_barriers, or a block of one thread.
VCUDA_KERNEL_SIDE void block_barrier();

namespace detail {
using Body = void (*)(const void* closure);
void launch(const char* kernel, Dim3 grid, Dim3 block, Stream stream, Body body, const void* closure, bool barriers);
}  // namespace detail

// Runs `kernel` (a callable without arguments) once for each thread of the grid, in order of block and thread.
// `name` is the kernel's name for memory-fault reports: the text before `<` or `(`, without parentheses or namespaces.
// An invalid configuration (a size of zero, over 1024 threads, beyond CUDA's bounds of a dimension) and a stream that
// does not exist set the device's non-sticky last error. Does nothing on a poisoned context.
template <typename Kernel>
void launch(const char* name, Dim3 grid, Dim3 block, Stream stream, const Kernel& kernel) {
  detail::launch(
      name, grid, block, stream, [](const void* k) { (*static_cast<const Kernel*>(k))(); }, &kernel, false);
}

template <typename Kernel>
void launch_with_barriers(const char* name, Dim3 grid, Dim3 block, Stream stream, const Kernel& kernel) {
  detail::launch(
      name, grid, block, stream, [](const void* k) { (*static_cast<const Kernel*>(k))(); }, &kernel, true);
}

}  // namespace vcuda
