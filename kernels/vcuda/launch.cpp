// See launch.h.
#include "kernels/vcuda/launch.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/vcuda/block_fibers.h"
#include "kernels/vcuda/context.h"
#include "kernels/vcuda/crew.h"
#include "kernels/vcuda/grid.h"
#include "kernels/vcuda/races.h"
#include "kernels/vcuda/shadow.h"
#include "kernels/vcuda/static_arrays.h"

namespace vcuda {

VCUDA_KERNEL_SIDE constinit thread_local ThreadState current_thread_state;
VCUDA_KERNEL_SIDE constinit thread_local Runner* runner = nullptr;
Grid grid;

namespace {

std::mutex grid_lock;

constexpr unsigned kMostThreads = 1024;
constexpr Dim3 kLargestBlock{1024, 1024, 64};
constexpr Dim3 kLargestGrid{2147483647, 65535, 65535};

bool fits(const Dim3& size, const Dim3& largest) {
  return size.x != 0 && size.y != 0 && size.z != 0 && size.x <= largest.x && size.y <= largest.y && size.z <= largest.z;
}

bool is_valid(const Dim3& blocks, const Dim3& block) {
  return fits(blocks, kLargestGrid) && fits(block, kLargestBlock) &&
         std::uint64_t{block.x} * block.y * block.z <= kMostThreads;
}

// Moves `at` to the next position in `size`, x first. False past the last one, which leaves it at the first.
bool advance(Dim3& at, const Dim3& size) {
  if (++at.x < size.x) return true;
  at.x = 0;
  if (++at.y < size.y) return true;
  at.y = 0;
  if (++at.z < size.z) return true;
  at.z = 0;
  return false;
}

// Grids with fewer threads run on one core: waking others costs about what these cost.
constexpr std::uint64_t kLargeGrid = 1 << 15;
constexpr unsigned kChunksPerCore = 4;

enum Jump : int { kThreadEnded = 1, kGridEnded, kThreadAgain };

bool next_thread(ThreadState& state) { return advance(state.thread, state.block_size) || next_block(state); }

[[gnu::always_inline]] inline std::uintptr_t stack_pointer() {
#if defined(__x86_64__)
  std::uintptr_t out;
  asm("movq %%rsp, %0" : "=r"(out));
  return out;
#else
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#endif
}

// All state of the loop is in the runner and current_thread_state, so nothing is lost when a failed thread jumps back
// here, and a healthy one pays nothing for the possibility. The loop itself is detail::run_threads.
[[gnu::noinline]] void run_plain(Runner& own, detail::Body body, detail::Closure closure) {
  ThreadState& state = current_thread_state;
  // What lies above is the host's.
  own.frames = stack_pointer();
  state.stack_bytes = own.frames - state.stack_begin;
  switch (_setjmp(own.end)) {
    case kGridEnded: return;
    case kThreadEnded:
      if (!next_thread(state)) return;
      break;
    case kThreadAgain: break;
  }
  body(closure.at);
}

void forget_shared_memory() {
  for (const StaticArray& array : static_arrays()) {
    if (array.shared) races().forget(array.begin, array.bytes);
  }
}

[[gnu::noinline]] void run_with_barriers(Runner& own, detail::Body body, detail::Closure closure) {
  ThreadState& state = current_thread_state;
  do {
    own.barriers = 0;
    if (grid.tool == Tool::racecheck) forget_shared_memory();
    if (block_fibers::run(body, closure.at) == block_fibers::Ended::by_fault) return;
  } while (next_block(state));
}

shadow::Range find_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  // A stack without a limit is as large as the address space; no kernel goes far down.
  constexpr std::uintptr_t kDeepest = 64ull << 20;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(low) + bytes;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) / shadow::kGranule * shadow::kGranule;
  const std::uintptr_t begin = std::max(reinterpret_cast<std::uintptr_t>(low), here - std::min(here, kDeepest));
  return {begin, end - begin};
}

// A tool wants to see every access, in order.
bool is_watched() { return grid.tool != Tool::none && grid.tool != Tool::memcheck; }

Dim3 block_number(std::uint64_t number, const Dim3& size) {
  return {static_cast<unsigned>(number % size.x), static_cast<unsigned>(number / size.x % size.y),
          static_cast<unsigned>(number / size.x / size.y)};
}

// Runs blocks [first, first + count) on this host thread. `sole`: they are all of the grid's.
BlocksResult run_blocks(detail::Body body, detail::Closure closure, Dim3 blocks, Dim3 block, std::uint64_t first,
                        std::uint64_t count, bool sole) {
  thread_local Runner own(find_stack());
  own.closure = {reinterpret_cast<std::uintptr_t>(closure.at), closure.bytes};
  own.barriers = 0;
  own.own_shared = {};
  own.arrays_fine.reset();
  const LocalArrays& locals = own.locals;
  current_thread_state = {{0, 0, 0},     block_number(first, blocks), block,
                          blocks,        locals.stack().begin,        locals.stack().bytes,
                          locals.bytes()};
  current_thread_state.alone = is_watched();
  current_thread_state.sole = sole;
  current_thread_state.blocks = count;
  runner = &own;
  if (grid.barriers) {
    run_with_barriers(own, body, closure);
  } else {
    run_plain(own, body, closure);
  }
  if (grid.tool == Tool::racecheck) finish_races();
  runner = nullptr;
  return std::exchange(own.result, {});
}

// What is printed is bounded as CUDA bounds it: lines that no longer fit are dropped.
void append_lines(std::string& to, const std::string& text) {
  const std::size_t bound = options().printed_bytes;
  if (to.size() + text.size() <= bound) {
    to += text;
    return;
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (to.size() + end - at <= bound) to.append(text, at, end - at);
    at = end;
  }
}

void append(BlocksResult& all, const BlocksResult& more) {
  if (all.ended_grid) return;
  if (all.failure == Error::none) all.failure = more.failure;
  all.ended_grid = more.ended_grid;
  append_lines(all.printed, more.printed);
  append_lines(all.said, more.said);
  all.report += more.report;
}

BlocksResult run_grid(detail::Body body, detail::Closure closure, Dim3 blocks, Dim3 block) {
  const std::uint64_t count = std::uint64_t{blocks.x} * blocks.y * blocks.z;
  const std::uint64_t threads = count * block.x * block.y * block.z;
  const unsigned cores = grid.barriers || is_watched() || threads < kLargeGrid ? 1 : core_count();
  const std::uint64_t chunks = std::min<std::uint64_t>(count, std::uint64_t{cores} * kChunksPerCore);
  if (cores == 1 || chunks == 1) return run_blocks(body, closure, blocks, block, 0, count, true);
  std::vector<BlocksResult> results(chunks);
  // Chunks start in order, so those before a fault have all run.
  std::atomic<std::uint64_t> ended_at = chunks;
  run_on_cores(cores, chunks, [&](std::uint64_t chunk) {
    if (chunk > ended_at.load(std::memory_order_relaxed)) return;
    const std::uint64_t first = count * chunk / chunks, end = count * (chunk + 1) / chunks;
    results[chunk] = run_blocks(body, closure, blocks, block, first, end - first, false);
    if (!results[chunk].ended_grid) return;
    std::uint64_t seen = ended_at.load(std::memory_order_relaxed);
    while (chunk < seen && !ended_at.compare_exchange_weak(seen, chunk, std::memory_order_relaxed)) {
    }
  });
  BlocksResult all;
  for (const BlocksResult& result : results) append(all, result);
  return all;
}

void print(const std::string& text, int to) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(to, text.data() + done, text.size() - done);
    if (wrote <= 0) break;
    done += static_cast<std::size_t>(wrote);
  }
}

// The line CUDA prints for a failed assert. A debugger stops here, where the thread runs by itself: so it is no part of
// fail(), which a thread comes to twice if it is joined with others.
[[gnu::noinline]] void append_assert_line(const AssertSite& site) {
  const ThreadState& at = current_thread_state;
  std::array<char, 128> place;
  const int length = std::snprintf(place.data(), place.size(), ": block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `",
                                   at.block.x, at.block.y, at.block.z, at.thread.x, at.thread.y, at.thread.z);
  std::array<char, 16> line;
  const int digits = std::snprintf(line.data(), line.size(), ":%u: ", site.line);
  constexpr std::string_view kEnd = "` failed.\n";
  const std::size_t bytes = std::strlen(site.file) + static_cast<std::size_t>(digits) + std::strlen(site.function) +
                            static_cast<std::size_t>(length) + std::strlen(site.condition) + kEnd.size();
  std::string& printed = runner->result.printed;
  if (printed.size() + bytes > options().printed_bytes) return;
  printed.append(site.file).append(line.data(), static_cast<std::size_t>(digits)).append(site.function);
  printed.append(place.data(), static_cast<std::size_t>(length)).append(site.condition).append(kEnd);
}

// The line ATen's assert with a message prints by itself. The message brings its own end of line.
[[gnu::noinline]] void append_message(const AssertSite& site, const char* message) {
  const ThreadState& at = current_thread_state;
  std::array<char, 1024> line;
  const int length = std::snprintf(line.data(), line.size(),
                                   "[CUDA_KERNEL_ASSERT] %s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u]: "
                                   "Assertion failed: `%s`: %s\n",
                                   site.file, site.line, site.function, at.block.x, at.block.y, at.block.z, at.thread.x,
                                   at.thread.y, at.thread.z, site.condition, message);
  const std::size_t bytes = std::min(static_cast<std::size_t>(length), line.size() - 1);
  std::string& said = runner->result.said;
  if (said.size() + bytes <= options().printed_bytes) said.append(line.data(), bytes);
}

}  // namespace

bool next_block(ThreadState& state) { return --state.blocks != 0 && (advance(state.block, state.grid_size), true); }

void fail_saying(const AssertSite& site, const char* format, ...) {
  std::array<char, 512> message;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message.data(), message.size(), format, arguments);
  va_end(arguments);
  if (in_kernel()) {
    detail::run_alone();
    append_message(site, message.data());
  }
  fail(site);
}

void fail(const AssertSite& site) {
  if (!in_kernel()) {
    std::fprintf(stderr, "vcuda: DEVICE_ASSERT(%s) failed outside a kernel\n", site.condition);
    std::abort();
  }
  detail::run_alone();
  append_assert_line(site);
  Error& failure = runner->result.failure;
  if (failure == Error::none) failure = Error::assert_triggered;
  end_thread();
}

void fail_with_message(const AssertSite& site, const char* message) {
  static constexpr std::size_t kLongest = 255;
  std::array<char, kLongest + 1> text{};
  std::memcpy(text.data(), message, strnlen(message, kLongest));
  fail({site.file, site.line, site.function, text.data()});
}

void tell(const std::string& report) {
  BlocksResult& result = runner->result;
  result.report += report;
  if (result.failure == Error::none) result.failure = Error::launch_failure;
}

void end_thread() {
  if (grid.barriers) block_fibers::end_thread();
  runner->locals.forget(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), runner->frames);
  std::longjmp(runner->end, kThreadEnded);
}

void end_grid() {
  runner->result.ended_grid = true;
  if (grid.barriers) block_fibers::end_block();
  runner->locals.forget(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), runner->frames);
  std::longjmp(runner->end, kGridEnded);
}

void block_barrier() {
  if (grid.barriers) {
    block_fibers::barrier(__builtin_return_address(0));
  } else if (current_thread_state.block_size != Dim3{1, 1, 1}) {
    std::fprintf(stderr, "vcuda: %s uses __syncthreads() but was launched without barriers\n", grid.kernel);
    std::abort();
  }
}

std::string_view short_kernel_name(const char* text) {
  std::string_view name = text;
  name = name.substr(std::min(name.find_first_not_of("( "), name.size()));
  name = name.substr(0, name.find_first_of("<() "));
  if (const std::size_t colon = name.rfind("::"); colon != std::string_view::npos) name = name.substr(colon + 2);
  return name;
}

void detail::run_alone() {
  ThreadState& state = current_thread_state;
  if (state.first_joined == state.last_joined || state.thread.x != state.last_joined) return;
  state.thread.x = state.first_joined;
  state.last_joined = state.first_joined;
  state.alone = true;
  if (grid.barriers) block_fibers::start_again();
  runner->locals.forget(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), runner->frames);
  std::longjmp(runner->end, kThreadAgain);
}

bool detail::next_row() {
  ThreadState& state = current_thread_state;
  state.thread.x = 0;
  state.last_joined = state.first_joined;
  if (++state.thread.y < state.block_size.y) return true;
  state.thread.y = 0;
  if (++state.thread.z < state.block_size.z) return true;
  state.thread.z = 0;
  return next_block(state);
}

void detail::launch(const char* kernel, Dim3 blocks, Dim3 block, Stream stream, Body body, Closure closure,
                    bool barriers) {
  const LaunchTarget target =
      begin_launch(stream, is_valid(blocks, block) ? Error::none : Error::invalid_configuration);
  if (!target.runs) return;
  const std::lock_guard held(grid_lock);
  grid = {target.device, kernel, barriers, options().tool, target.written};
  if (grid.tool == Tool::racecheck) races().begin_grid(kernel, target.stream, target.clock, target.known);
  shadow::reach = {target.arena, target.shadow, kernel_library()};
  if (barriers) block_fibers::prepare();
  const BlocksResult result = run_grid(body, closure, blocks, block);
  shadow::reach = {};
  if (result.failure == Error::none) return;
  print(result.printed, STDERR_FILENO);
  print(result.report, STDERR_FILENO);
  print(result.said, STDOUT_FILENO);
  record_failure(target.device, target.number, result.failure);
}

}  // namespace vcuda
