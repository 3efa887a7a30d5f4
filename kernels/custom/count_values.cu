// The kernels behind count_values.h.
#include "kernels/custom/count_values.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

constexpr int kBlock = 64;   // of the shared array: a thread a bin
constexpr int kThreads = 4;  // with arrays of their own

template <bool kChecked>
__global__ void count_in_shared_kernel(const std::int64_t* values, std::int64_t n, int* counts) {
  __shared__ int bins[kSharedBins];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (std::int64_t i = threadIdx.x; i < n; i += kBlock) {
    const std::int64_t value = values[i];
    if (kChecked && (value < 0 || value >= kSharedBins)) continue;
    COVERAGE_POINT("count_in_shared_kernel");
    atomicAdd(&bins[value], 1);
  }
  __syncthreads();
  counts[threadIdx.x] = bins[threadIdx.x];
}

template <bool kChecked>
__global__ void count_in_local_kernel(const std::int64_t* values, std::int64_t n, int* counts) {
  int bins[kLocalBins];
  for (int bin = 0; bin < kLocalBins; ++bin) bins[bin] = 0;
  for (std::int64_t i = threadIdx.x; i < n; i += kThreads) {
    const std::int64_t value = values[i];
    if (kChecked && (value < 0 || value >= kLocalBins)) continue;
    COVERAGE_POINT("count_in_local_kernel");
    bins[value] += 1;
  }
  for (int bin = 0; bin < kLocalBins; ++bin) {
    if (bins[bin] != 0) atomicAdd(&counts[bin], bins[bin]);
  }
}

}  // namespace

void count_values_in_shared(const std::int64_t* values, std::int64_t n, int* counts, bool checked,
                            vcuda::Stream stream) {
  if (checked) {
    LAUNCH_WITH_BARRIERS(count_in_shared_kernel<true>, 1, kBlock, stream, values, n, counts);
  } else {
    LAUNCH_WITH_BARRIERS(count_in_shared_kernel<false>, 1, kBlock, stream, values, n, counts);
  }
}

void count_values_in_local(const std::int64_t* values, std::int64_t n, int* counts, bool checked,
                           vcuda::Stream stream) {
  if (checked) {
    LAUNCH(count_in_local_kernel<true>, 1, kThreads, stream, values, n, counts);
  } else {
    LAUNCH(count_in_local_kernel<false>, 1, kThreads, stream, values, n, counts);
  }
}

}  // namespace kernels
