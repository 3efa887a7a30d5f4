// The threads of a row of the block that run as one (join_row in device_language.h), and what they share out. For
// device code: include after device_language.h.
#pragma once

#include "kernels/vcuda/device_language.h"

namespace kernels {

// The threads that this one does the work of, from number `first` on.
struct Joined {
  int first, threads;
};
__device__ inline Joined join(int most) {
  const int first = static_cast<int>(threadIdx.x);
  return {first, vcuda::join_row(most)};
}

// How many of `threads` threads have one of `count` elements, which may be below zero.
template <typename Int>
__device__ int threads_with(Int count, int threads) {
  return count < threads ? (count < 0 ? 0 : static_cast<int>(count)) : threads;
}
// Those of the threads joined that have one of `count` elements; there may be none.
template <typename Int>
__device__ Joined join_for(Int count, int most) {
  const Joined all = join(most);
  return {all.first, threads_with(count - all.first, all.threads)};
}

// Of `count` elements every thread takes each `step`-th: calls `body(element, how many of the threads joined have it
// and those after it)`.
template <typename Int, typename Body>
__device__ void for_each_joined_run(const Joined& joined, int step, Int count, const Body& body) {
  for (Int first = joined.first; first < count; first += step) body(first, threads_with(count - first, joined.threads));
}

// The same one by one: calls `body(element, which of the threads joined)`.
template <typename Int, typename Body>
__device__ void for_each_joined(const Joined& joined, int step, Int count, const Body& body) {
  for_each_joined_run(joined, step, count, [&](Int first, int together) {
    for (int own = 0; own < together; ++own) body(first + own, own);
  });
}

// Those of a block's kThreads threads that have one of `count` values sum up in `shared`, each for itself: calls
// `body(the first of some values in a row, how many, the values, the sums they belong to)`, values and sums checked.
template <int kThreads, typename T, typename Int, typename A, typename Body>
__device__ void sum_up(const T* values, Int count, A* shared, const Body& body) {
  const Joined joined = join_for(count, kThreads);
  A* const sums = vcuda::writable(&shared[joined.first], joined.threads);
  for (int own = 0; own < joined.threads; ++own) vcuda::set(sums[own], A(0));
  for_each_joined_run(joined, kThreads, count, [&](Int first, int together) {
    body(first, together, vcuda::readable(&values[first], together), sums);
  });
}

// Of what `threads` threads have put into shared memory, in their order.
template <typename A>
__device__ A sum_of_threads(const A* shared, int threads) {
  vcuda::readable(shared, threads);
  A sum = 0;
  for (int i = 0; i < threads; ++i) sum += vcuda::argument(shared[i]);
  return sum;
}

}  // namespace kernels
