// How a grid runs on the host. Kernels without barriers are a plain loop over blocks and threads; kernels with
// barriers give each thread of a block a fiber (Boost.Context). A large grid without barriers is spread over the cores,
// and prints what it would on one. A thread whose assert fails prints CUDA's line and ends; the other threads of the
// grid go on, as on a GPU. An illegal access ends the whole grid.
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

// A stream's number; 0 is the default stream of the current device. Streams are made in runtime.h. It is as wide as
// CUDA's handle of a stream, so that a launcher is the same function to its callers where nvcc has compiled it.
using Stream = std::intptr_t;

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

// The device thread that runs now on this host thread. One grid at a time runs in the whole process (another host
// thread's waits). Blocks without barriers may be spread over host threads, those with barriers run on one, so shared
// memory is plain static storage.
struct ThreadState {
  Dim3 thread, block, block_size, grid_size;
  // The stack that it runs on, and the shadow of that (local_arrays.h).
  std::uintptr_t stack_begin = 0;
  std::size_t stack_bytes = 0;
  const std::uint8_t* stack_shadow = nullptr;
  // The threads of a row of the block that run as one (join_row in device_language.h), both included: `thread` is then
  // the last one. `alone`: no more are joined.
  unsigned first_joined = 0, last_joined = 0;
  bool alone = false;
  bool sole = false;         // no other host thread runs blocks of this grid
  std::uint64_t blocks = 0;  // still to run on this host thread, this one included
};

// What kernels call lives in the kernels' own library, so none of it goes through a symbol table.
#define VCUDA_KERNEL_SIDE __attribute__((visibility("hidden")))

// A callback that the linker, which sees kernels and runtime as one program, puts in the place of each call. Only an
// attribute can order that: by itself it merges no unchecked function into a checked one.
#define VCUDA_INTO_KERNELS VCUDA_KERNEL_SIDE __attribute__((always_inline))

// The way into a kernel with barriers: its loads of the arguments are the machine's, not the kernel's. A function so
// marked is not merged with one that is checked.
#define VCUDA_UNCHECKED __attribute__((no_sanitize("kernel-address", "coverage")))

// Reached without a call. The few bytes fit into what the loader keeps ready for libraries loaded later.
#define VCUDA_STATIC_TLS __attribute__((tls_model("initial-exec")))

VCUDA_KERNEL_SIDE extern constinit thread_local ThreadState current_thread_state VCUDA_STATIC_TLS;
[[gnu::always_inline]] inline ThreadState& current_thread() { return current_thread_state; }

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

// __syncthreads(). Requires: launched with launch_with_barriers, or a block of one thread. Never inlined: its return
// address tells one barrier of a kernel from another.
VCUDA_KERNEL_SIDE __attribute__((noinline, nomerge)) void block_barrier();

// A load and a store that the sanitizer does not see: the built-in variables and the arguments are no memory of the
// kernel's, and are read often. The sanitizer leaves other address spaces alone; to the machine number 1 is the usual
// one, so these are plain accesses that the compiler may move, join and leave out.
#define VCUDA_UNSEEN __attribute__((address_space(1)))
template <typename T>
[[gnu::always_inline]] inline T read_unchecked(const T& value) {
  return *(const VCUDA_UNSEEN T*)&value;
}
template <typename T>
[[gnu::always_inline]] inline void write_unchecked(T& value, T wanted) {
  *(VCUDA_UNSEEN T*)&value = wanted;
}

namespace detail {
using Body = void (*)(const void* closure);

// Where threads run as one this thread cannot go on for all of them: each runs by itself instead, from the first one
// on. Otherwise nothing happens. Requires: a kernel is running.
VCUDA_KERNEL_SIDE void run_alone();

// check_access for `count` elements in a row, at least none, for this thread and those that run as one with it.
VCUDA_KERNEL_SIDE void check_joined(const void* first, std::size_t element_bytes, std::int64_t count, Access access);
// False says only that this cannot tell. Requires: bytes > 0.
VCUDA_KERNEL_SIDE bool are_plainly_fine(const void* first, std::size_t bytes);
// What `look(closure)` said to the first thread of this host thread's that asked; false where a tool watches.
VCUDA_KERNEL_SIDE bool once_a_grid(bool (*look)(const void* closure), const void* closure);
// check_joined where something is wrong with one of them, or a tool watches.
VCUDA_KERNEL_SIDE void check_in_turn(const void* first, std::size_t element_bytes, std::int64_t count, Access access);
// memcpy that the sanitizer does not see.
void copy(void* to, const void* from, std::size_t bytes);

// Moves on to the first thread of the next row of the block, or of the next block; false after the last one.
VCUDA_KERNEL_SIDE bool next_row();

// The same; without a call within a block, and where blocks and the grid are one row, but for the last block.
inline bool next_row_quickly() {
  ThreadState& state = current_thread_state;
  const unsigned row = read_unchecked(state.thread.y) + 1, rows = read_unchecked(state.block_size.y);
  if (row < rows) {
    write_unchecked(state.thread.y, row);
  } else {
    const unsigned block = read_unchecked(state.block.x) + 1;
    const std::uint64_t blocks = read_unchecked(state.blocks) - 1;
    const bool one_row = (rows | read_unchecked(state.block_size.z)) == 1;
    if (!one_row || blocks == 0 || block >= read_unchecked(state.grid_size.x)) return next_row();
    write_unchecked(state.block.x, block);
    write_unchecked(state.blocks, blocks);
  }
  write_unchecked(state.thread.x, 0u);
  write_unchecked(state.last_joined, read_unchecked(state.first_joined));
  return true;
}

// All threads from the current one on. The kernel is merged into the loop, so its arguments are read once, and what is
// the same for all threads may be computed once. A thread that ends early does not come back here: the launch loop
// calls again for the next one.
template <typename Kernel>
void run_threads(const void* closure) {
  const Kernel kernel = *static_cast<const Kernel*>(closure);
  ThreadState& state = current_thread_state;
  for (;;) {
    [[clang::always_inline]] kernel();
    const unsigned x = read_unchecked(state.thread.x) + 1;
    write_unchecked(state.thread.x, x);
    if (x >= read_unchecked(state.block_size.x) && !next_row_quickly()) return;
  }
}

// One thread, on its fiber.
template <typename Kernel>
VCUDA_UNCHECKED void run_thread(const void* closure) {
  (*static_cast<const Kernel*>(closure))();
}

struct Closure {
  const void* at;
  std::size_t bytes;
};
void launch(const char* kernel, Dim3 grid, Dim3 block, Stream stream, Body body, Closure closure, bool barriers);
}  // namespace detail

// Runs `kernel` (a callable without arguments) once for each thread of the grid; the threads of a block in order.
// `name` is the kernel's name for memory-fault reports: the text before `<` or `(`, without parentheses or namespaces.
// An invalid configuration (a size of zero, over 1024 threads, beyond CUDA's bounds of a dimension) and a stream that
// does not exist set the device's non-sticky last error. Does nothing on a poisoned context.
template <typename Kernel>
void launch(const char* name, Dim3 grid, Dim3 block, Stream stream, const Kernel& kernel) {
  detail::launch(name, grid, block, stream, &detail::run_threads<Kernel>, {&kernel, sizeof kernel}, false);
}

template <typename Kernel>
void launch_with_barriers(const char* name, Dim3 grid, Dim3 block, Stream stream, const Kernel& kernel) {
  detail::launch(name, grid, block, stream, &detail::run_thread<Kernel>, {&kernel, sizeof kernel}, true);
}

}  // namespace vcuda
