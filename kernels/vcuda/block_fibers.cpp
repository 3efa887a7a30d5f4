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
bool is_whole_block = false;  // the current one runs for all threads of the block, and waits for nobody
detail::Body current_body = nullptr;
const void* current_closure = nullptr;

void back_to_scheduler(Switch why) { scheduler = context::jump_fcontext(scheduler, reinterpret_cast<void*>(why)).fctx; }

// The frames of the thread that ends here will not be left one by one.
void forget_frames() {
  const auto low = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto number = (low - reinterpret_cast<std::uintptr_t>(stack_memory)) / kStackBytes;
  stack_locals->forget(low, reinterpret_cast<std::uintptr_t>(stack_memory) + (number + 1) * kStackBytes);
}

bool runs_whole_block() {
  const ThreadState& state = current_thread_state;
  const Dim3 size = state.block_size;
  return is_whole_block || state.last_joined - state.first_joined + 1 == size.x * size.y * size.z;
}

// A thread that has run for its whole block goes on with the next one: no other fiber takes part in either. False after
// the last block, and for all others.
bool begin_next_block() {
  ThreadState& state = current_thread_state;
  if (state.alone || !runs_whole_block() || state.blocks == 1) return false;
  next_block(state);
  state.thread = current->thread;
  state.last_joined = state.first_joined;
  is_whole_block = false;
  runner->barriers = 0;
  return true;
}

void enter(context::transfer_t from) {
  scheduler = from.fctx;
  do {
    current_body(current_closure);
  } while (begin_next_block());
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

// Lets a fiber go on to where it stops next. Inlined, as the processor guesses wrong where a function returns that has
// switched stacks.
[[gnu::always_inline]] inline Switch resume(std::size_t number) {
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

// The threads of a block that have come as far as a barrier.
struct Waiting {
  std::size_t fibers = 0;  // that have come to the first one
  std::size_t alive = 0;   // of them
  bool some_returned = false;
};

// What became of a thread that was let go on. False: the block is over.
bool note(Switch why, Fiber& fiber, Waiting& waiting) {
  if (why == Switch::fault) return false;
  if (why == Switch::barrier) return true;
  waiting.some_returned = waiting.some_returned || why == Switch::returned;
  fiber.lives = false;
  --waiting.alive;
  return true;
}

// Lets all threads of the block begin. Those that a thread has joined have no fiber: it goes on as its own thread for
// all of them. One that comes to no barrier leaves its fiber to the next.
bool begin(Waiting& waiting) {
  ThreadState& state = current_thread_state;
  is_whole_block = false;
  const Dim3 size = state.block_size;
  for (unsigned z = 0; z < size.z; ++z) {
    for (unsigned y = 0; y < size.y; ++y) {
      for (unsigned x = 0; x < size.x; x += state.last_joined - state.first_joined + 1) {
        Fiber& fiber = fibers[waiting.fibers];
        fiber = {{x, y, z}};
        ++waiting.alive;
        if (!note(resume(waiting.fibers), fiber, waiting)) return false;
        if (is_whole_block) return true;
        if (fiber.lives) ++waiting.fibers;
      }
    }
  }
  return true;
}

bool go_on(Waiting& waiting) {
  for (std::size_t i = 0; i < waiting.fibers; ++i) {
    if (fibers[i].lives && !note(resume(i), fibers[i], waiting)) return false;
  }
  return true;
}

void tell_of_divergence(const Waiting& waiting) {
  if (grid.tool != Tool::synccheck || tool_has_told()) return;
  if (const Fiber* fiber = divergent(waiting.fibers, waiting.some_returned)) {
    current_thread_state.thread = fiber->thread;
    tell(describe_divergence(current_thread_state));
  }
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
  current_body = body;
  current_closure = closure;
  Waiting waiting;
  if (!begin(waiting)) return Ended::by_fault;
  for (;;) {
    tell_of_divergence(waiting);
    ++runner->barriers;
    if (waiting.alive == 0) return Ended::all_threads;
    if (!go_on(waiting)) return Ended::by_fault;
  }
}

void barrier(const void* site) {
  ThreadState& state = current_thread_state;
  is_whole_block = runs_whole_block();
  if (is_whole_block) {
    state.thread = current->thread;
    state.last_joined = state.first_joined;
    ++runner->barriers;
    return;
  }
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
