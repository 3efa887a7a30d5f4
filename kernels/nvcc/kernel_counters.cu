// Where the counters of kernel_counters.h lie. A pointer to them is the same on the host and on every GPU.
#include <cstring>

#include "kernels/nvcc/kernel_counters.h"

namespace vcuda {
std::uint32_t* kernel_counters = nullptr;
}

const char* dsafuzz_cuda_start_counting(std::uint32_t** counters, std::uint32_t* size) {
  constexpr std::size_t kBytes = vcuda::kKernelCounters * sizeof(std::uint32_t);
  if (vcuda::kernel_counters == nullptr) {
    void* memory = nullptr;
    const cudaError_t error = cudaHostAlloc(&memory, kBytes, cudaHostAllocMapped | cudaHostAllocPortable);
    if (error != cudaSuccess) {
      cudaGetLastError();
      return cudaGetErrorString(error);
    }
    vcuda::kernel_counters = static_cast<std::uint32_t*>(std::memset(memory, 0, kBytes));
  }
  *counters = vcuda::kernel_counters;
  *size = vcuda::kKernelCounters;
  return nullptr;
}
