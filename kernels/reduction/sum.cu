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
  const int threads = count < kThreads ? static_cast<int>(count) : kThreads;
  const Joined joined = join_for(threads, kThreads);
  Sum<T>* const own_sums = vcuda::writable(&sums[joined.first], joined.threads);
  for (int own = 0; own < joined.threads; ++own) vcuda::set(own_sums[own], Sum<T>(0));
  for_each_joined_run(joined, kThreads, count, [&](std::int64_t first, int together) {
    add_values(vcuda::readable(&values[first], together), together, own_sums);
  });
  __syncthreads();
  if (joined.first != 0) return;
  const Sum<T> sum = sum_of_threads(sums, threads);
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
