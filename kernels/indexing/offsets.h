// Where the `linear`-th element of a walk lies in each operand. For device code: include after device_language.h.
#pragma once

#include "kernels/arithmetic/divide.h"
#include "kernels/vcuda/device_language.h"
#include "kernels/vcuda/dtype.h"

namespace kernels {

template <int N>
struct Offsets {
  std::int64_t bytes[N];
};

// A number less what its part of dimension 0 is, and that.
struct Split {
  std::int64_t rest, coordinate;
};
template <int N>
__device__ inline Split split(const vcuda::Walk<N>& walk, std::int64_t linear) {
  const std::int64_t rest = quotient(linear, walk.sizes[0]);
  return {rest, linear - rest * vcuda::argument(walk.sizes[0].number)};
}

template <int N>
__device__ inline Offsets<N> offsets_of(const vcuda::Walk<N>& walk, const Split& element) {
  Offsets<N> out;
  for (int operand = 0; operand < N; ++operand) {
    out.bytes[operand] = element.coordinate * vcuda::argument(walk.strides[operand][0]);
  }
  const int dims = vcuda::argument(walk.dims);
  std::int64_t linear = element.rest;
  for (int dim = 1; dim < dims; ++dim) {
    // What is left for the last dimension is its coordinate.
    const std::int64_t rest = dim + 1 < dims ? quotient(linear, walk.sizes[dim]) : 0;
    const std::int64_t coordinate = linear - rest * vcuda::argument(walk.sizes[dim].number);
    linear = rest;
    for (int operand = 0; operand < N; ++operand) {
      out.bytes[operand] += coordinate * vcuda::argument(walk.strides[operand][dim]);
    }
  }
  return out;
}

// Requires: 0 <= linear < the product of the sizes.
template <int N>
__device__ inline Offsets<N> offsets_of(const vcuda::Walk<N>& walk, std::int64_t linear) {
  return offsets_of(walk, vcuda::argument(walk.dims) > 1 ? split(walk, linear) : Split{0, linear});
}

// The first element of a thread, and how many threads it does the work of.
struct Elements {
  std::int64_t first;
  int joined;
};

// Of a thread that has `kPerThread` elements, `kThreads` (a block) apart. `most`: how many threads may be joined.
template <int kThreads, int kPerThread>
__device__ Elements elements_of_thread(std::int64_t most) {
  const std::int64_t first = static_cast<std::int64_t>(kThreads) * kPerThread * blockIdx.x + threadIdx.x;
  return {first, vcuda::join_row(most)};
}

// Calls `body(offsets, n)` for the elements of a thread: for `n` of them at once, the first at `offsets` and the others
// after it along dimension 0.
template <int kThreads, int kPerThread, int N, typename Body>
__device__ void for_each_run(const vcuda::Walk<N>& walk, std::int64_t count, const Elements& elements,
                             const Body& body) {
  const std::int64_t row = vcuda::argument(walk.sizes[0].number);
  std::int64_t first = elements.first;
  for (int n = 0; n < kPerThread && first < count; ++n, first += kThreads) {
    const std::int64_t end = count - first < elements.joined ? count : first + elements.joined;
    Split element = split(walk, first);
    for (std::int64_t i = first; i < end; element = {element.rest + 1, 0}) {
      const std::int64_t left = row - element.coordinate;
      const int together = static_cast<int>(end - i < left ? end - i : left);
      body(offsets_of(walk, element), together);
      i += together;
    }
  }
}

// The same for bodies that take one element: calls `body(offsets)`. `most`: how many threads may be joined.
template <int kThreads, int kPerThread, int N, typename Body>
__device__ void for_each_element(const vcuda::Walk<N>& walk, std::int64_t count, std::int64_t most, const Body& body) {
  const Elements elements = elements_of_thread<kThreads, kPerThread>(most);
  for_each_run<kThreads, kPerThread>(walk, count, elements, [&](const Offsets<N>& first, int together) {
    for (int i = 0; i < together; ++i) {
      Offsets<N> at = first;
      for (int operand = 0; operand < N; ++operand) at.bytes[operand] += i * vcuda::argument(walk.strides[operand][0]);
      body(at);
    }
  });
}

// `count` elements of an operand, `step` bytes apart. Those that lie side by side are checked at once.
template <typename T>
class Run {
 public:
  __device__ Run(char* first, std::int64_t step, int count) : first_(first), step_(step), checked_(fits(step, count)) {
    if (checked_) vcuda::writable(reinterpret_cast<T*>(first), count);
  }
  __device__ Run(const char* first, std::int64_t step, int count)
      : first_(const_cast<char*>(first)), step_(step), checked_(fits(step, count)) {
    if (checked_) vcuda::readable(reinterpret_cast<const T*>(first), count);
  }

  // Elements that lie side by side, in order.
  __device__ bool is_checked() const { return checked_; }
  __device__ T* first() const { return reinterpret_cast<T*>(first_); }

  __device__ T get(int i) const {
    const T* const at = reinterpret_cast<const T*>(first_ + i * step_);
    if constexpr (int{sizeof(T)} <= kWordBytes) {
      if (checked_) return vcuda::argument(*at);
    }
    return *at;
  }
  __device__ void set(int i, T value) const {
    T* const at = reinterpret_cast<T*>(first_ + i * step_);
    if constexpr (int{sizeof(T)} <= kWordBytes) {
      if (checked_) return vcuda::set(*at, value);
    }
    *at = value;
  }

 private:
  static constexpr int kWordBytes = 8;  // what the machine moves as one
  __device__ static bool fits(std::int64_t step, int count) {
    return int{sizeof(T)} <= kWordBytes && count > 1 && step == static_cast<std::int64_t>(sizeof(T));
  }
  char* first_;
  std::int64_t step_;
  bool checked_;
};

}  // namespace kernels
