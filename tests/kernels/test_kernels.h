// Launchers of small kernels that each do one thing a test needs. All pointers are device pointers unless named host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/vcuda/launch.h"

namespace test_kernels {

struct Shape {
  vcuda::Dim3 grid{1}, block{1};
  vcuda::Stream stream = 0;
};

void empty(Shape shape);
void write_index(int* out, Shape shape);  // out[linear thread number of the grid] = that number
// A block copies `count` integers as one row of threads; thread x asserts that x is below limits[x] of its block's.
void copy_in_rows(const int* from, const int* limits, int* to, int count, Shape shape);
// A block's sum, by way of shared memory for 64 threads that run as one before the barrier; each asserts that its value
// is below `bound`.
void sum_joined(const int* values, int bound, int* out, Shape shape);
// out[thread]: whether the first thread found that `count` values may be touched.
void ask_once(const int* values, int count, int* out, Shape shape);
void count_in_rows(int* out, unsigned width, Shape shape);  // adds 1 for x < width; the others end their row
void quotients(const std::int64_t* values, std::int64_t number, std::int64_t* out, Shape shape);  // values[i] / number
void assert_below(const int* values, int bound, Shape shape);  // one value a thread; asserts values[i] < bound
void assert_then_write(const int* values, int bound, int* out, Shape shape);
void assert_then_store_at(int* pointer, Shape shape);  // thread 0 asserts, thread 1 stores to `pointer`
void template_write(float* out);                       // a template instance as KERNEL; writes 4
void sum_with_barriers(const int* values, int count, int* out, int block);  // block sum in shared memory
void barrier_with_early_exit(int* out,
                             int block);  // odd threads leave before the barrier; even ones sum what all even wrote
void barrier_then_assert(int* out, int block);  // thread 1 asserts between two barriers, the rest write out[i] = 1
void barrier_then_fault(int* out, int* bad, int block);  // thread 1 stores to `bad` after the barrier
void add_atomically(std::int64_t* integer, float* real, int* largest, Shape shape);
void store(int* pointer);
void store_byte(char* pointer);
void load_long(const std::int64_t* pointer, std::int64_t* out);
void add_to(int* pointer);  // atomicAdd
struct Wide {
  std::int64_t words[5];
};
void copy_struct(const Wide* from, Wide* to);
void use_locals_and_constants(const int* in, int* out);  // a local array and a constant table, both indexed at run time
void read_host_argument(const int* host, int* out);
void compare_with(const int* value, int bound, int* out);
void sum_loop(const float* values, int count, float* out);  // one thread, `count` checked loads

}  // namespace test_kernels
