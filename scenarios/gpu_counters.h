// What kernels of ours count on a GPU (kernels/nvcc/kernel_counters.h), as coverage of a run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dsafuzz {

class GpuCounters {
 public:
  // From now on the kernels in the libraries that this process has loaded count; only the first call does anything. It
  // costs each of them writes over the bus, so it is for searches alone. Returns why some do not count, in CUDA's
  // words; empty if all do. Starts CUDA: never before a fork.
  std::string start();
  // Moves what was counted into the coverage map and clears it, also where an assert has taken the GPU's context.
  // Nothing before start().
  void collect();

 private:
  bool started_ = false;
  std::vector<std::span<std::uint32_t>> counters_;  // one a library
};

}  // namespace dsafuzz
