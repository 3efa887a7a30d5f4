// The common subset of CUDA C++17 and C++ that every kernel here is written in. The same `.cu` file is
// compiled by nvcc for a GPU and by clang for the virtual device; this header is the only place that knows.
//
// What a kernel file may use: __global__ and __device__ functions, threadIdx/blockIdx/blockDim/gridDim, __shared__
// arrays of constant size in the __global__ function itself, __syncthreads() (in kernels launched with
// LAUNCH_WITH_BARRIERS), atomicAdd on float, double, int, int64 and the 16-bit types, atomicMax, atomicMin, atomicExch
// and atomicCAS on int, vcuda::update_atomically on every element of up to 8 bytes, DEVICE_ASSERT,
// DEVICE_ASSERT_PRINTF and DEVICE_ASSERT_MESSAGE, to_float/from_float for the 16-bit types.
// A struct that a kernel takes is written KERNEL_STRUCT(Type) name, and is only read; vcuda::argument(name.list[i])
// reads an element of a list in it without a check, so `i` must be one.
// COVERAGE_POINT(NAME), with a literal that no other has, is a place that a GPU counts (nvcc/kernel_counters.h), as it
// does every assert. The virtual device counts all branches without it.
// RETURN_ROW ends a thread that has nothing more to do, where the same holds for all threads after it in its row of the
// block (those with a larger threadIdx.x) and they would pass every assert that it has passed: the virtual device does
// not run these. Not under LAUNCH_WITH_BARRIERS.
// vcuda::join_row(n), n >= 1, says of how many threads this one does the work: itself and those after it in its row of
// the block, `n` at most; always 1 on a GPU. The virtual device takes a row of threads as one where a CPU would copy a
// row. threadIdx.x is not read after it. The threads joined must pass every assert that the one does, or the kernel
// checks for each of them. Once a check fails, the virtual device starts again and runs every thread by itself: so all
// that is written before the last check is what the threads would write anyway, and no atomic operation is among it.
// Under LAUNCH_WITH_BARRIERS it is called before the first barrier. From there on threadIdx.x is that of the thread
// that has joined the others, to which also is laid what fails.
// vcuda::readable(p, n) and vcuda::writable(p, n) check n elements at once, n >= 0, for vcuda::argument and vcuda::set,
// which check nothing. vcuda::copy_joined checks and copies n elements, or only copies; vcuda::add_unchecked is
// atomicAdd on float, double and int, for what has been checked.
// vcuda::are_accessible(p, n), n > 0, looks whether n elements may be read and written, and reports nothing; false, as
// always on a GPU, says only that it does not know. vcuda::once_a_grid(look), one in a kernel, is what look() said to
// the first thread, for what is true of all: whether arrays may be touched, each as a whole.
// UNCHECKED, in the place of __device__, is for the inner loop of threads that may be joined: the virtual device
// neither checks nor counts what it does, so all memory that it touches must have been checked before, for this thread
// and those joined. VECTORIZED stands before a loop of it that may take elements side by side at once.
// vcuda::most_joined(n) is the most that join_row(n) says, a constant.
// Locals in kernels must be trivially destructible: a failed assert leaves the thread without unwinding.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <type_traits>

#include "kernels/nvcc/kernel_counters.h"

namespace vcuda {
using Half = __half;
using BFloat16 = __nv_bfloat16;
using Stream = std::intptr_t;  // a cudaStream_t, as the host sees it (launch.h)
__device__ inline float to_float(float v) { return v; }
__device__ inline double to_float(double v) { return v; }
__device__ inline float to_float(Half v) { return __half2float(v); }
__device__ inline float to_float(BFloat16 v) { return __bfloat162float(v); }
template <typename T>
__device__ inline T from_float(double v) {
  return static_cast<T>(v);
}
template <>
__device__ inline Half from_float<Half>(double v) {
  return __float2half(static_cast<float>(v));
}
template <>
__device__ inline BFloat16 from_float<BFloat16>(double v) {
  return __float2bfloat16(static_cast<float>(v));
}

template <typename T>
__device__ T argument(const T& element) {
  return element;
}

__host__ __device__ constexpr int most_joined(int) { return 1; }
__device__ inline int join_row(std::int64_t) { return 1; }
template <typename T>
__device__ const T* readable(const T* first, std::int64_t) {
  return first;
}
template <typename T>
__device__ T* writable(T* first, std::int64_t) {
  return first;
}
template <typename T>
__device__ bool are_accessible(const T*, std::int64_t) {
  return false;
}
template <typename Look>
__device__ bool once_a_grid(const Look&) {
  return false;
}
template <typename T>
__device__ void set(T& element, T value) {
  element = value;
}
template <typename T>
__device__ void copy_joined(T* to, const T* from, int, bool = false) {
  *to = *from;
}

// Replaces *address by change(*address) in one step. CUDA swaps words of 32 and 64 bits only, so a smaller element is
// swapped together with its neighbours.
template <typename T, typename Change>
__device__ void update_atomically(T* address, const Change& change) {
  using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto* word = reinterpret_cast<Word*>(at & ~static_cast<std::uintptr_t>(sizeof(Word) - 1));
  const auto offset = static_cast<unsigned>(at % sizeof(Word));
  Word seen = *word, expected;
  do {
    expected = seen;
    Word wanted = expected;
    T value;
    memcpy(&value, reinterpret_cast<const char*>(&expected) + offset, sizeof(T));
    value = change(value);
    memcpy(reinterpret_cast<char*>(&wanted) + offset, &value, sizeof(T));
    seen = atomicCAS(word, expected, wanted);
  } while (seen != expected);
}

template <typename T>
__device__ void add_unchecked(T* address, T value) {
  atomicAdd(address, value);
}
}  // namespace vcuda

// CUDA has the 64-bit add for unsigned long long only; in two's complement it is the same addition.
__device__ inline std::int64_t atomicAdd(std::int64_t* address, std::int64_t value) {
  return static_cast<std::int64_t>(
      atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value)));
}

// The counter is a constant, whatever the compiler makes of the rest.
#define COUNT_PLACE(FILE, LINE, FUNCTION)                                         \
  do {                                                                            \
    constexpr std::uint32_t kCounter = ::vcuda::counter_of(FILE, LINE, FUNCTION); \
    ::vcuda::count_threads(kCounter);                                             \
  } while (0)
#define COVERAGE_POINT(NAME) COUNT_PLACE("", 0, NAME)

// The driver prints FILE, FUNCTION and TEXT exactly as given, whatever function this stands in, and NDEBUG
// does not remove it. Only literals may be passed, but for the message of DEVICE_ASSERT_MESSAGE: a text that a kernel
// has in its arguments, NUL-terminated, at most 255 characters.
extern "C" __device__ void __assertfail(const char* condition, const char* file, unsigned line, const char* function,
                                        size_t char_size);
#define DEVICE_ASSERT(FILE, LINE, FUNCTION, TEXT, OK)                              \
  do {                                                                             \
    COUNT_PLACE(FILE, LINE, FUNCTION);                                             \
    if (!(OK)) __assertfail(TEXT, "/pytorch/" FILE, LINE, FUNCTION, sizeof(char)); \
  } while (0)

// Before it fails, the thread also prints the condition and a message, as ATen's assert with a message does. LINE is a
// literal; FORMAT and what follows it are printf's.
#define DEVICE_ASSERT_PRINTF(FILE, LINE, FUNCTION, TEXT, OK, FORMAT, ...)                                         \
  do {                                                                                                            \
    COUNT_PLACE(FILE, LINE, FUNCTION);                                                                            \
    if (!(OK)) {                                                                                                  \
      printf("[CUDA_KERNEL_ASSERT] /pytorch/" FILE ":" #LINE                                                      \
             ": %s: block: [%d,%d,%d], thread: [%d,%d,%d]: Assertion failed: `" TEXT "`: " FORMAT "\n",           \
             FUNCTION, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, ##__VA_ARGS__); \
      __assertfail(TEXT, "/pytorch/" FILE, LINE, FUNCTION, sizeof(char));                                         \
    }                                                                                                             \
  } while (0)

// DEVICE_ASSERT where the text is not known before run time.
#define DEVICE_ASSERT_MESSAGE(FILE, LINE, FUNCTION, MESSAGE, OK)                      \
  do {                                                                                \
    COUNT_PLACE(FILE, LINE, FUNCTION);                                                \
    if (!(OK)) __assertfail(MESSAGE, "/pytorch/" FILE, LINE, FUNCTION, sizeof(char)); \
  } while (0)

#define KERNEL_STRUCT(...) const __VA_ARGS__
#define UNCHECKED __device__
#define VECTORIZED
#define RETURN_ROW return

#define LAUNCH(KERNEL, GRID, BLOCK, STREAM, ...) \
  ::vcuda::pass_counters(STREAM), KERNEL<<<GRID, BLOCK, 0, reinterpret_cast<cudaStream_t>(STREAM)>>>(__VA_ARGS__)
#define LAUNCH_WITH_BARRIERS(KERNEL, GRID, BLOCK, STREAM, ...) \
  ::vcuda::pass_counters(STREAM), KERNEL<<<GRID, BLOCK, 0, reinterpret_cast<cudaStream_t>(STREAM)>>>(__VA_ARGS__)

#else

#include "kernels/vcuda/host_language.h"

#endif

namespace vcuda {
// To look at so many elements costs less than to check one that is touched (are_accessible).
inline constexpr std::int64_t kWorthALook = 16;
}  // namespace vcuda
