// See launch.h.
#include "kernels/vcuda/launch.h"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "kernels/vcuda/block_fibers.h"
#include "kernels/vcuda/context.h"
#include "kernels/vcuda/grid.h"
#include "kernels/vcuda/shadow.h"

namespace vcuda {

VCUDA_KERNEL_SIDE constinit ThreadState current_thread_state;
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

bool next_thread(ThreadState& state) {
  return advance(state.thread, state.block_size) || advance(state.block, state.grid_size);
}

enum Jump : int { kThreadEnded = 1, kGridEnded = 2 };

// All state of the loop is in current_thread_state, so nothing is lost when a failed thread jumps back here, and a
// healthy one pays nothing for the possibility.
[[gnu::noinline]] void run_plain(detail::Body body, const void* closure) {
  ThreadState& state = current_thread_state;
  switch (_setjmp(grid.end)) {
    case kGridEnded: return;
    case kThreadEnded:
      if (!next_thread(state)) return;
      break;
  }
  do {
    body(closure);
  } while (next_thread(state));
}

[[gnu::noinline]] void run_with_barriers(detail::Body body, const void* closure) {
  ThreadState& state = current_thread_state;
  do {
    if (block_fibers::run(body, closure) == block_fibers::Ended::by_fault) return;
  } while (advance(state.block, state.grid_size));
}

shadow::Range find_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  return {reinterpret_cast<std::uintptr_t>(low), bytes};
}

shadow::Range find_statics() {
  shadow::Range found;
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* out) {
        const auto own = reinterpret_cast<std::uintptr_t>(&current_thread_state);
        std::uintptr_t low = UINTPTR_MAX, high = 0;
        bool ours = false;
        for (int i = 0; i < module->dlpi_phnum; ++i) {
          const auto& segment = module->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD) continue;
          const std::uintptr_t begin = module->dlpi_addr + segment.p_vaddr, end = begin + segment.p_memsz;
          ours = ours || (own >= begin && own < end);
          low = std::min(low, begin);
          high = std::max(high, end);
        }
        if (ours) *static_cast<shadow::Range*>(out) = {low, high - low};
        return ours ? 1 : 0;
      },
      &found);
  return found;
}

void print(std::string& text, int to) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(to, text.data() + done, text.size() - done);
    if (wrote <= 0) break;
    done += static_cast<std::size_t>(wrote);
  }
  text.clear();
}

// The line CUDA prints for a failed assert.
void append_assert_line(const AssertSite& site) {
  const ThreadState& at = current_thread_state;
  std::array<char, 128> place;
  const int length = std::snprintf(place.data(), place.size(), ": block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `",
                                   at.block.x, at.block.y, at.block.z, at.thread.x, at.thread.y, at.thread.z);
  std::array<char, 16> line;
  const int digits = std::snprintf(line.data(), line.size(), ":%u: ", site.line);
  constexpr std::string_view kEnd = "` failed.\n";
  const std::size_t bytes = std::strlen(site.file) + static_cast<std::size_t>(digits) + std::strlen(site.function) +
                            static_cast<std::size_t>(length) + std::strlen(site.condition) + kEnd.size();
  if (grid.printed.size() + bytes > options().printed_bytes) return;
  grid.printed.append(site.file).append(line.data(), static_cast<std::size_t>(digits)).append(site.function);
  grid.printed.append(place.data(), static_cast<std::size_t>(length)).append(site.condition).append(kEnd);
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
  if (grid.said.size() + bytes <= options().printed_bytes) grid.said.append(line.data(), bytes);
}

}  // namespace

void fail_saying(const AssertSite& site, const char* format, ...) {
  std::array<char, 512> message;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message.data(), message.size(), format, arguments);
  va_end(arguments);
  if (in_kernel()) append_message(site, message.data());
  fail(site);
}

void fail(const AssertSite& site) {
  if (!in_kernel()) {
    std::fprintf(stderr, "vcuda: DEVICE_ASSERT(%s) failed outside a kernel\n", site.condition);
    std::abort();
  }
  append_assert_line(site);
  if (grid.failure == Error::none) grid.failure = Error::assert_triggered;
  end_thread();
}

void fail_with_message(const AssertSite& site, const char* message) {
  static constexpr std::size_t kLongest = 255;
  std::array<char, kLongest + 1> text{};
  std::memcpy(text.data(), message, strnlen(message, kLongest));
  fail({site.file, site.line, site.function, text.data()});
}

void end_thread() {
  if (grid.barriers) block_fibers::end_thread();
  std::longjmp(grid.end, kThreadEnded);
}

void end_grid() {
  if (grid.barriers) block_fibers::end_block();
  std::longjmp(grid.end, kGridEnded);
}

void block_barrier() {
  if (grid.barriers) {
    block_fibers::barrier();
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

void detail::launch(const char* kernel, Dim3 blocks, Dim3 block, Stream stream, Body body, const void* closure,
                    bool barriers) {
  const LaunchTarget target =
      begin_launch(stream, is_valid(blocks, block) ? Error::none : Error::invalid_configuration);
  if (!target.runs) return;
  static const shadow::Range statics = find_statics();
  thread_local const shadow::Range stack = find_stack();

  const std::lock_guard held(grid_lock);
  grid.device = target.device;
  grid.kernel = kernel;
  grid.barriers = barriers;
  grid.failure = Error::none;
  current_thread_state = {{0, 0, 0}, {0, 0, 0}, block, blocks};
  shadow::reach = {target.arena, target.shadow, stack, {}, statics};
  grid.host.store(pthread_self(), std::memory_order_relaxed);
  if (barriers) {
    block_fibers::prepare();
    shadow::reach.fibers = block_fibers::stacks();
    run_with_barriers(body, closure);
  } else {
    run_plain(body, closure);
  }
  grid.host.store(0, std::memory_order_relaxed);
  shadow::reach = {};
  if (grid.failure == Error::none) return;
  print(grid.printed, STDERR_FILENO);
  print(grid.said, STDOUT_FILENO);
  record_failure(target.device, target.number, grid.failure);
}

}  // namespace vcuda
