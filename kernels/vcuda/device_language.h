// The common subset of CUDA C++17 and C++ that every kernel here is written in. The same `.cu` file is
// compiled by nvcc for a GPU and by clang for the virtual device; this header is the only place that knows.
//
// What a kernel file may use: __global__ and __device__ functions, threadIdx/blockIdx/blockDim/gridDim, __shared__
// arrays of constant size, __syncthreads() (in kernels launched with LAUNCH_WITH_BARRIERS), atomicAdd on float, double,
// int and int64, atomicMax, atomicMin, atomicExch and atomicCAS on int, DEVICE_ASSERT, to_float/from_float for the
// 16-bit types.
// Locals in kernels must be trivially destructible: a failed assert leaves the thread without unwinding.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace vcuda {
using Half = __half;
using BFloat16 = __nv_bfloat16;
using Stream = cudaStream_t;
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
}  // namespace vcuda

// CUDA has the 64-bit add for unsigned long long only; in two's complement it is the same addition.
__device__ inline std::int64_t atomicAdd(std::int64_t* address, std::int64_t value) {
  return static_cast<std::int64_t>(
      atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value)));
}

// The driver prints FILE, FUNCTION and TEXT exactly as given, whatever function this stands in, and NDEBUG
// does not remove it. Only literals may be passed.
extern "C" __device__ void __assertfail(const char* condition, const char* file, unsigned line, const char* function,
                                        size_t char_size);
#define DEVICE_ASSERT(FILE, LINE, FUNCTION, TEXT, OK)                              \
  do {                                                                             \
    if (!(OK)) __assertfail(TEXT, "/pytorch/" FILE, LINE, FUNCTION, sizeof(char)); \
  } while (0)

#define LAUNCH(KERNEL, GRID, BLOCK, STREAM, ...) KERNEL<<<GRID, BLOCK, 0, STREAM>>>(__VA_ARGS__)
#define LAUNCH_WITH_BARRIERS(KERNEL, GRID, BLOCK, STREAM, ...) KERNEL<<<GRID, BLOCK, 0, STREAM>>>(__VA_ARGS__)

// DEVICE_ASSERT with a text from run time, which a kernel has in its arguments: NUL-terminated, at most 255 characters.
#define DEVICE_ASSERT_MESSAGE(FILE, LINE, FUNCTION, MESSAGE, OK)                      \
  do {                                                                                \
    if (!(OK)) __assertfail(MESSAGE, "/pytorch/" FILE, LINE, FUNCTION, sizeof(char)); \
  } while (0)

#else

#include "kernels/vcuda/host_language.h"

#endif
