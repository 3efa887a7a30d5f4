// Coverage of our kernels on a GPU, whose compiler counts nothing: how many threads came to each DEVICE_ASSERT and each
// COVERAGE_POINT. The counters lie in memory of the host that every GPU can write to, and so outlive a context that an
// assert has taken. Until they are asked for there are none, and a place in a kernel costs the look at a constant.
#pragma once

#include <cstdint>

// Kernels count from now on, in `*counters`, which are `*size` and zero; they are the library's until the process ends.
// The caller reads and clears them while no kernel runs. Returns null, or, with neither set, why there are none: CUDA's
// text of the error. Starts CUDA: never before a fork. Each library of kernels has this function for its own.
extern "C" const char* dsafuzz_cuda_start_counting(std::uint32_t** counters, std::uint32_t* size);

#if defined(__CUDACC__)

#include <cuda_runtime.h>

#include <atomic>

namespace vcuda {

inline constexpr std::uint32_t kKernelCounters = 4096;  // a power of two
extern std::uint32_t* kernel_counters;                  // for launchers; null: none

// For kernels. Each file has its own, as files are compiled to device code by themselves.
static __constant__ std::uint32_t* device_counters;

// A place's counter, the same in every build, by FNV-1a of what an assert there prints. Two places may share one.
__host__ __device__ constexpr std::uint32_t counter_of(const char* file, std::uint32_t line, const char* function) {
  std::uint32_t hash = 2166136261u ^ line;
  for (const char* text : {file, function}) {
    for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619u;
  }
  return (hash ^ hash >> 16) % kKernelCounters;
}

// One thread of a warp counts for all that are with it, so that a place costs one write over the bus.
__device__ inline void count_threads(std::uint32_t counter) {
  if (device_counters == nullptr) return;
  const unsigned together = __activemask();
  unsigned before;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
  if ((together & before) == 0) atomicAdd(&device_counters[counter], __popc(together));
}

// Before a launch on the current device: its kernels of this file get to know the counters, once. Without them they
// count nothing, so a failure is left to the launch, which meets the same one if it matters.
static inline void pass_counters(std::intptr_t stream) {
  static std::atomic<std::uint64_t> passed{0};  // a bit a device
  int device = 0;
  if (kernel_counters == nullptr || cudaGetDevice(&device) != cudaSuccess || device >= 64) return;
  const std::uint64_t bit = std::uint64_t{1} << device;
  if ((passed.fetch_or(bit) & bit) != 0) return;
  if (cudaMemcpyToSymbolAsync(device_counters, &kernel_counters, sizeof kernel_counters, 0, cudaMemcpyHostToDevice,
                              reinterpret_cast<cudaStream_t>(stream)) != cudaSuccess) {
    cudaGetLastError();
  }
}

}  // namespace vcuda

#endif
