// The threads of one block as fibers, for kernels with barriers. They take turns: each runs to its next barrier or
// its end, so when all had a turn, all that still live have reached the same barrier. Threads that ended hold nobody
// up.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/vcuda/launch.h"
#include "kernels/vcuda/local_arrays.h"

namespace vcuda::block_fibers {

enum class Ended : std::uint8_t { all_threads, by_fault };

// Maps the stacks, once in the process.
void prepare();

// Runs `body` once for each thread of the current block. Under synccheck a barrier that some threads of the block have
// missed, or that differs from the one others wait at, is told of. After a fault the other threads are dropped where
// they stand. Requires: prepare() was called.
Ended run(detail::Body body, const void* closure);

// These are called on a fiber. `site` tells one barrier of the kernel from another. start_again() runs the thread from
// its beginning; it has not met a barrier.
void barrier(const void* site);
[[noreturn]] void start_again();
[[noreturn]] void end_thread();
[[noreturn]] void end_block();

// On all stacks. Requires: prepare() was called.
LocalArrays& locals();

}  // namespace vcuda::block_fibers
