// See block_fibers.h. Boost's bare context switch rather than boost::context::fiber: that one unwinds an unfinished
// fiber with an exception, which kernels (compiled without) could not survive, and stacks are better kept for reuse.
#include "kernels/vcuda/block_fibers.h"

#include <sys/mman.h>

#include <array>
#include <boost/context/detail/fcontext.hpp>
#include <cstdio>
#include <cstdlib>

#include "kernels/vcuda/fault_report.h"
#include "kernels/vcuda/grid.h"

namespace vcuda::block_fibers {
namespace {

namespace context = boost::context::detail;

constexpr std::size_t kMostThreads = 1024;
constexpr std::size_t kStackBytes = 64 << 10;
constexpr std::size_t kGuardBytes = 4096;
// Stacks start at different offsets in their page: with equal ones all threads would compete for the same cache lines.
constexpr std::size_t kColours = 61, kColourBytes = 128;

struct Fiber {
  Dim3 thread;
  bool lives = true;
  context::fcontext_t at = nullptr;  // null: it has not started
  const void* barrier = nullptr;     // where it waits
};

enum class Switch : std::uint8_t { barrier, returned, thread_ended, again, fault };

std::byte* stack_memory = nullptr;
LocalArrays* stack_locals = nullptr;  // lives for ever, as the stacks do
std::size_t guarded = 0;              // stacks below this number have their guard page
std::array<Fiber, kMostThreads> fibers;
context::fcontext_t scheduler = nullptr;
Fiber* current = nullptr;
detail::Body current_body = nullptr;
const void* current_closure = nullptr;

void back_to_scheduler(Switch why) { scheduler = context::jump_fcontext(scheduler, reinterpret_cast<void*>(why)).fctx; }

// The frames of the thread that ends here will not be left one by one.
void forget_frames() {
  const auto low = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto number = (low - reinterpret_cast<std::uintptr_t>(stack_memory)) / kStackBytes;
  stack_locals->forget(low, reinterpret_cast<std::uintptr_t>(stack_memory) + (number + 1) * kStackBytes);
}

void enter(context::transfer_t from) {
  scheduler = from.fctx;
  current_body(current_closure);
  back_to_scheduler(Switch::returned);
  std::abort();  // nobody resumes an ended thread
}

// The first thread that waits while another has returned or waits elsewhere; null if all is well. A thread that a
// failed assert ended is not to blame.
const Fiber* divergent(std::size_t count, bool some_returned) {
  const Fiber* first = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    const Fiber& fiber = fibers[i];
    if (!fiber.lives) continue;
    if (some_returned || (first != nullptr && fiber.barrier != first->barrier)) return &fiber;
    if (first == nullptr) first = &fiber;
  }
  return nullptr;
}

context::fcontext_t make_fiber(std::size_t number) {
  std::byte* const low = stack_memory + number * kStackBytes;
  for (; guarded <= number; ++guarded) mprotect(stack_memory + guarded * kStackBytes, kGuardBytes, PROT_NONE);
  const std::size_t bytes = kStackBytes - number % kColours * kColourBytes;
  return context::make_fcontext(low + bytes, bytes - kGuardBytes, enter);
}

// Lets a fiber go on to where it stops next.
Switch resume(std::size_t number) {
  Fiber& fiber = fibers[number];
  ThreadState& state = current_thread_state;
  current = &fiber;
  state.stack_begin = reinterpret_cast<std::uintptr_t>(stack_memory) + number * kStackBytes;
  state.stack_bytes = kStackBytes;
  state.stack_shadow = stack_locals->bytes() + number * kStackBytes / shadow::kGranule;
  for (;;) {
    state.thread = fiber.thread;
    state.first_joined = state.last_joined = fiber.thread.x;
    const context::transfer_t back =
        context::jump_fcontext(fiber.at == nullptr ? make_fiber(number) : fiber.at, nullptr);
    const auto why = static_cast<Switch>(reinterpret_cast<std::uintptr_t>(back.data));
    fiber.at = why == Switch::again ? nullptr : back.fctx;
    if (why != Switch::again) return why;
  }
}

// The threads that a fiber has joined to its own end where it stops first: from there on it is its own thread alone.
// Returns how many.
std::size_t end_joined(std::size_t number) {
  const ThreadState& state = current_thread_state;
  const std::size_t joined = state.last_joined - state.first_joined;
  for (std::size_t i = 1; i <= joined; ++i) fibers[number + i].lives = false;
  return joined;
}

}  // namespace

void prepare() {
  if (stack_memory != nullptr) return;
  void* const memory = mmap(nullptr, kMostThreads * kStackBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("vcuda: no memory for the stacks of a block");
    std::abort();
  }
  stack_memory = static_cast<std::byte*>(memory);
  stack_locals = new LocalArrays({reinterpret_cast<std::uintptr_t>(memory), kMostThreads * kStackBytes});
}

Ended run(detail::Body body, const void* closure) {
  ThreadState& state = current_thread_state;
  current_body = body;
  current_closure = closure;
  std::size_t count = 0;
  const Dim3 size = state.block_size;
  for (unsigned z = 0; z < size.z; ++z) {
    for (unsigned y = 0; y < size.y; ++y) {
      for (unsigned x = 0; x < size.x; ++x, ++count) fibers[count] = {{x, y, z}};
    }
  }
  bool some_returned = false;
  for (std::size_t alive = count; alive != 0; ++runner->barriers) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!fibers[i].lives) continue;
      const Switch why = resume(i);
      if (why == Switch::fault) return Ended::by_fault;
      alive -= end_joined(i);
      some_returned = some_returned || why == Switch::returned;
      if (why == Switch::barrier) continue;
      fibers[i].lives = false;
      --alive;
    }
    if (grid.tool != Tool::synccheck || tool_has_told()) continue;
    if (const Fiber* fiber = divergent(count, some_returned)) {
      state.thread = fiber->thread;
      tell(describe_divergence(state));
    }
  }
  return Ended::all_threads;
}

void barrier(const void* site) {
  current->barrier = site;
  back_to_scheduler(Switch::barrier);
}

void end_thread() {
  forget_frames();
  back_to_scheduler(Switch::thread_ended);
  std::abort();  // nobody resumes an ended thread
}

void start_again() {
  forget_frames();
  back_to_scheduler(Switch::again);
  std::abort();
}

void end_block() {
  forget_frames();
  back_to_scheduler(Switch::fault);
  std::abort();
}

LocalArrays& locals() { return *stack_locals; }

}  // namespace vcuda::block_fibers
