// The kernel behind sum.h.
#include "kernels/arithmetic/joined.h"
#include "kernels/reduction/sum.h"
#include "kernels/vcuda/device_language.h"
#include "kernels/vcuda/floating.h"

namespace kernels {
namespace {

constexpr int kThreads = 512;

template <typename T>
UNCHECKED void add_values(const T* values, int count, Sum<T>* sums) {
  VECTORIZED for (int own = 0; own < count; ++own) sums[own] += vcuda::to_float(values[own]);
}

template <typename T>
__global__ void reduce_kernel(const T* values, std::int64_t count, bool mean, T* out) {
  __shared__ Sum<T> sums[kThreads];
  sum_up<kThreads>(values, count, sums, [&](std::int64_t, int together, const T* checked, Sum<T>* own) {
    add_values(checked, together, own);
  });
  __syncthreads();
  if (threadIdx.x != 0) return;
  const Sum<T> sum = sum_of_threads(sums, threads_with(count, kThreads));
  *out = vcuda::from_float<T>(mean ? sum / static_cast<Sum<T>>(count) : sum);
}

}  // namespace

void full_sum(const FullSum& args, vcuda::Stream stream) {
  with_floating(args.dtype, [&](auto element) {
    using T = typename decltype(element)::type;
    const auto* values = static_cast<const T*>(args.values);
    auto* out = static_cast<T*>(args.out);
    const std::int64_t count = args.count;
    const bool mean = args.mean;
    LAUNCH_WITH_BARRIERS((reduce_kernel<T>), 1, kThreads, stream, values, count, mean, out);
  });
}

}  // namespace kernels
