#include "scenarios/gpu_counters.h"

#include <dlfcn.h>

#include <utility>

#include "kernels/nvcc/kernel_counters.h"
#include "kernels/vcuda/coverage.h"

namespace dsafuzz {

std::string GpuCounters::start() {
  std::string problem;
  if (std::exchange(started_, true)) return problem;
  for (const char* name : {"libdsafuzz_cuda.so", "libdsafuzz_kernels_on_cuda.so"}) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) continue;
    const auto start_counting =
        reinterpret_cast<decltype(&dsafuzz_cuda_start_counting)>(dlsym(library, "dsafuzz_cuda_start_counting"));
    std::uint32_t *counters = nullptr, size = 0;
    const char* const why_not = start_counting(&counters, &size);
    if (why_not == nullptr) {
      counters_.emplace_back(counters, size);
    } else {
      problem = why_not;
    }
  }
  return problem;
}

void GpuCounters::collect() {
  for (const std::span<std::uint32_t> counters : counters_) vcuda::collect_gpu_counters(counters);
}

}  // namespace dsafuzz
