// Launchers of small kernels for the tools: each right or wrong in one way. All pointers are device pointers.
#pragma once

#include <cstdint>

#include "kernels/vcuda/launch.h"

namespace tool_kernels {

void copy_one(const int* from, int* to, vcuda::Stream stream = 0);    // *to = *from
void copy_byte(const char* from, char* to);                           // *to = *from
void write_one(int* to, int value, vcuda::Stream stream = 0);         // one thread
void write_index(int* to, unsigned count);                            // to[i] = i, a thread each, blocks of 32
void write_same(int* to, int value, unsigned count, unsigned block);  // all threads write *to = value
void write_number(int* to, unsigned count, unsigned block);           // all threads write *to = their number
void add_plain(int* to, unsigned count, unsigned block);              // *to += 1 in each thread
void add_atomic(int* to, unsigned count, unsigned block);             // atomicAdd in each thread
void add_then_read(int* to, int* out, unsigned count);                // atomicAdd, then a plain load, in each thread
void reverse_in_shared(const int* in, int* out, bool barrier);        // 32 threads; without a barrier a race
void shared_at(int index, int* out);                  // writes shared[index] of 16 ints, 16 threads wide
void local_at(int index, int* out);                   // writes local[index] of 8 ints
void local_then_assert(int* out);                     // 4 threads with local arrays; the first asserts
void barrier_in_branch(int* out, unsigned block);     // the lower half waits at one barrier, the rest at another
void barrier_after_return(int* out, unsigned block);  // odd threads return before the barrier
void barrier_after_assert(int* out, unsigned block);  // thread 1 asserts before the barrier
void barrier_in_loop(int* out, unsigned block);       // all threads wait at the same barrier, three times
void assert_each(unsigned blocks, unsigned block, unsigned from);  // threads numbered from `from` on assert
void fault_at(int* good, int* bad, unsigned blocks, unsigned block, unsigned at);  // thread `at` writes to `bad`

}  // namespace tool_kernels
