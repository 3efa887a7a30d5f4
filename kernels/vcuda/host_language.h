// CUDA's device language on the host: what device_language.h means when clang compiles a kernel for the
// virtual device. Kernel files are compiled with -fsanitize=kernel-address (every load and store is checked
// against the arena's shadow, see memory.h) and with counters of edges and compare tracing (coverage.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/vcuda/launch.h"

// As nvcc does it: a kernel and what it calls are one function, so that what is the same for all threads is computed
// once. On a variable the attribute means nothing.
#pragma clang diagnostic ignored "-Wignored-attributes"
#define __global__
#define __device__ __attribute__((always_inline))
#define __host__
#define __forceinline__ inline
#define __restrict__ __restrict
// One block at a time runs in the process, so a block's shared memory is static storage.
#define __shared__ static

// Each part by itself: a function would return two of them in one register, and the machine waits where it loads both
// just after one was stored.
#define VCUDA_PARTS(DIM3)                                                   \
  (::vcuda::Dim3(::vcuda::read_unchecked(::vcuda::current_thread().DIM3.x), \
                 ::vcuda::read_unchecked(::vcuda::current_thread().DIM3.y), \
                 ::vcuda::read_unchecked(::vcuda::current_thread().DIM3.z)))
#define threadIdx VCUDA_PARTS(thread)
#define blockIdx VCUDA_PARTS(block)
#define blockDim VCUDA_PARTS(block_size)
#define gridDim VCUDA_PARTS(grid_size)
#define __syncthreads() ::vcuda::block_barrier()

using dim3 = ::vcuda::Dim3;

// FILE from `aten/` or `kernels/` on, LINE, FUNCTION and TEXT are what the GPU prints; OK is the condition.
#define DEVICE_ASSERT(FILE, LINE, FUNCTION, TEXT, OK)                                   \
  do {                                                                                  \
    static constexpr ::vcuda::AssertSite kSite{"/pytorch/" FILE, LINE, FUNCTION, TEXT}; \
    ::vcuda::reach(kSite);                                                              \
    if (!(OK)) [[unlikely]]                                                             \
      ::vcuda::fail(kSite);                                                             \
  } while (0)

// DEVICE_ASSERT that also says something: see fail_saying.
#define DEVICE_ASSERT_PRINTF(FILE, LINE, FUNCTION, TEXT, OK, ...)                       \
  do {                                                                                  \
    static constexpr ::vcuda::AssertSite kSite{"/pytorch/" FILE, LINE, FUNCTION, TEXT}; \
    ::vcuda::reach(kSite);                                                              \
    if (!(OK)) [[unlikely]]                                                             \
      ::vcuda::fail_saying(kSite, __VA_ARGS__);                                         \
  } while (0)

// DEVICE_ASSERT where the text is not known before run time: MESSAGE, NUL-terminated, is read only when OK is false.
#define DEVICE_ASSERT_MESSAGE(FILE, LINE, FUNCTION, MESSAGE, OK)                      \
  do {                                                                                \
    static constexpr ::vcuda::AssertSite kSite{"/pytorch/" FILE, LINE, FUNCTION, ""}; \
    ::vcuda::reach(kSite);                                                            \
    if (!(OK)) [[unlikely]]                                                           \
      ::vcuda::fail_with_message(kSite, MESSAGE);                                     \
  } while (0)

#define COVERAGE_POINT(NAME) static_cast<void>(0)

#define RETURN_ROW      \
  do {                  \
    ::vcuda::end_row(); \
    return;             \
  } while (0)

// Never merged into its kernel, where it would be checked.
#define UNCHECKED VCUDA_UNCHECKED __attribute__((noinline))

// Before a loop in an UNCHECKED function.
#define VECTORIZED _Pragma("clang loop vectorize(enable)")

// The launch's own copy serves all threads: a copy for each would cost more than most of them do.
#define KERNEL_STRUCT(...) const __VA_ARGS__&

// KERNEL may be a template instance in parentheses. The launch is asynchronous: its error surfaces at a later
// call unless launches block (runtime.h).
#define LAUNCH(KERNEL, GRID, BLOCK, STREAM, ...) \
  ::vcuda::launch(#KERNEL, GRID, BLOCK, STREAM, [=] { [[clang::always_inline]] KERNEL(__VA_ARGS__); })
#define LAUNCH_WITH_BARRIERS(KERNEL, GRID, BLOCK, STREAM, ...) \
  ::vcuda::launch_with_barriers(#KERNEL, GRID, BLOCK, STREAM, [=]() VCUDA_UNCHECKED { KERNEL(__VA_ARGS__); })

namespace vcuda {

template <typename T>
T argument(const T& element) {
  return read_unchecked(element);
}

constexpr int most_joined(int most) { return most; }

[[gnu::always_inline]] inline int join_row(std::int64_t most) {
  ThreadState& state = current_thread();
  const unsigned first = read_unchecked(state.thread.x);
  const std::int64_t rest = read_unchecked(state.block_size.x) - first;
  const std::int64_t together = most < rest ? most : rest;
  if (together <= 1 || read_unchecked(state.alone)) return 1;
  const unsigned last = first + static_cast<unsigned>(together) - 1;
  write_unchecked(state.first_joined, first);
  write_unchecked(state.last_joined, last);
  write_unchecked(state.thread.x, last);
  return static_cast<int>(together);
}

template <typename T>
[[gnu::always_inline]] inline const T* readable(const T* first, std::int64_t count) {
  detail::check_joined(first, sizeof(T), count, Access::read);
  return first;
}
template <typename T>
[[gnu::always_inline]] inline T* writable(T* first, std::int64_t count) {
  detail::check_joined(first, sizeof(T), count, Access::write);
  return first;
}
template <typename T>
[[gnu::always_inline]] inline bool are_accessible(const T* first, std::int64_t count) {
  return detail::are_plainly_fine(first, sizeof(T) * static_cast<std::size_t>(count));
}
template <typename Look>
[[gnu::always_inline]] inline bool once_a_grid(const Look& look) {
  return detail::once_a_grid([](const void* closure) { return (*static_cast<const Look*>(closure))(); }, &look);
}
template <typename T>
void set(T& element, T value) {
  write_unchecked(element, value);
}
template <typename T>
[[gnu::always_inline]] inline void copy_joined(T* to, const T* from, int count, bool checked = false) {
  if (!checked) {
    detail::check_joined(from, sizeof(T), count, Access::read);
    detail::check_joined(to, sizeof(T), count, Access::write);
  }
  detail::copy(to, from, sizeof(T) * static_cast<std::size_t>(count));
}

// The launch loop then goes on with the next row.
[[gnu::always_inline]] inline void end_row() {
  ThreadState& state = current_thread();
  write_unchecked(state.thread.x, read_unchecked(state.block_size.x) - 1);
}

using Half = _Float16;

// bfloat16: the upper half of a float; conversion rounds to nearest, ties to even; NaN stays NaN.
struct BFloat16 {
  std::uint16_t bits;
};
inline BFloat16 read_unchecked(const BFloat16& v) { return {read_unchecked(v.bits)}; }
inline void write_unchecked(BFloat16& v, BFloat16 wanted) { write_unchecked(v.bits, wanted.bits); }

__device__ inline float to_float(float v) { return v; }
__device__ inline double to_float(double v) { return v; }
__device__ inline float to_float(Half v) { return static_cast<float>(v); }
__device__ inline float to_float(BFloat16 v) {
  const std::uint32_t wide = static_cast<std::uint32_t>(v.bits) << 16;
  float out;
  std::memcpy(&out, &wide, sizeof out);
  return out;
}

template <typename T>
__device__ T from_float(double v) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    const float narrow = static_cast<float>(v);
    std::uint32_t wide;
    std::memcpy(&wide, &narrow, sizeof wide);
    if (narrow != narrow) return {0x7fc0};
    return {static_cast<std::uint16_t>((wide + 0x7fff + ((wide >> 16) & 1)) >> 16)};
  } else {
    return static_cast<T>(v);
  }
}

}  // namespace vcuda

// Of CUDA: the upper half of the product.
inline std::uint64_t __umul64hi(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b >> 64);
}

// CUDA's atomics: checked like any other access, atomic among host threads, and returning the old value.
namespace vcuda {
// The first guess of what an atomic will find: part of the atomic access, not a load of the kernel's.
template <typename Word>
Word guess_of(const Word* address) {
#if defined(__x86_64__)
  Word out;
  asm volatile("mov %1, %0" : "=r"(out) : "m"(*address));
  return out;
#else
  return __atomic_load_n(address, __ATOMIC_RELAXED);
#endif
}
template <typename T, typename Change>
T change_atomically(T* address, Change change) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  check_access(address, sizeof(T), Access::atomic);
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                                     std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
  auto* const word = reinterpret_cast<Word*>(address);
  Word seen = guess_of(word), wanted;
  T old;
  do {
    std::memcpy(&old, &seen, sizeof old);
    const T next = change(old);
    std::memcpy(&wanted, &next, sizeof wanted);
    // A locked instruction takes several times as long as all else here.
    if (read_unchecked(current_thread().sole)) {
      write_unchecked(*word, wanted);
      break;
    }
  } while (!__atomic_compare_exchange_n(word, &seen, wanted, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}
template <typename T, typename Change>
void update_atomically(T* address, const Change& change) {
  change_atomically(address, change);
}
template <typename T>
[[gnu::always_inline]] inline void add_unchecked(T* address, T value) {
  if (read_unchecked(current_thread().sole)) {
    write_unchecked(*address, static_cast<T>(read_unchecked(*address) + value));
  } else {
    __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
  }
}
}  // namespace vcuda

template <typename T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  return ::vcuda::change_atomically(address, [=](T old) { return static_cast<T>(old + value); });
}
template <typename T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  return ::vcuda::change_atomically(address, [=](T old) { return old < value ? value : old; });
}
template <typename T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  return ::vcuda::change_atomically(address, [=](T old) { return value < old ? value : old; });
}
template <typename T>
T atomicExch(T* address, std::type_identity_t<T> value) {
  return ::vcuda::change_atomically(address, [=](T) { return value; });
}
template <typename T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return ::vcuda::change_atomically(address, [=](T old) { return old == expected ? value : old; });
}

// The 16-bit types add as floats.
namespace vcuda {
template <typename T>
T add_atomically(T* address, T value) {
  static_assert(sizeof(T) == sizeof(std::uint16_t));
  return change_atomically(address, [=](T old) { return from_float<T>(to_float(old) + to_float(value)); });
}
}  // namespace vcuda

inline ::vcuda::Half atomicAdd(::vcuda::Half* address, ::vcuda::Half value) {
  return ::vcuda::add_atomically(address, value);
}
inline ::vcuda::BFloat16 atomicAdd(::vcuda::BFloat16* address, ::vcuda::BFloat16 value) {
  return ::vcuda::add_atomically(address, value);
}
