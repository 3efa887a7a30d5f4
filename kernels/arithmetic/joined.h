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

// Those of them that have one of `count` elements; there may be none.
__device__ inline Joined join_for(int count, int most) {
  const Joined all = join(most);
  const int left = count - all.first;
  return {all.first, left < all.threads ? (left < 0 ? 0 : left) : all.threads};
}

// Of `count` elements every thread takes each `step`-th: calls `body(element, how many of the threads joined have it
// and those after it)`.
template <typename Int, typename Body>
__device__ void for_each_joined_run(const Joined& joined, int step, Int count, const Body& body) {
  for (Int first = joined.first; first < count; first += step)
    body(first, count - first < joined.threads ? static_cast<int>(count - first) : joined.threads);
}

// The same one by one: calls `body(element, which of the threads joined)`.
template <typename Int, typename Body>
__device__ void for_each_joined(const Joined& joined, int step, Int count, const Body& body) {
  for_each_joined_run(joined, step, count, [&](Int first, int together) {
    for (int own = 0; own < together; ++own) body(first + own, own);
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
