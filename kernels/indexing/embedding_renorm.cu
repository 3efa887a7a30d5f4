// The kernel behind embedding_renorm.h: a block of 128 threads for each row.
#include <cmath>

#include "kernels/arithmetic/joined.h"
#include "kernels/indexing/element.h"
#include "kernels/indexing/embedding_renorm.h"
#include "kernels/vcuda/device_language.h"

namespace kernels {
namespace {

using vcuda::from_float;
using vcuda::to_float;

constexpr int kThreads = 128;

template <typename T, typename Sum, typename Index>
__global__ void renorm_kernel(T* weights, const Index* indices, Sum max_norm, Sum norm_type, std::int64_t dim,
                              std::int64_t weights_stride0, std::int64_t weights_stride1) {
  __shared__ Sum partial[kThreads];
  // The position is cut to 32 bits, as ATen's kernel does.
  const int base_index = static_cast<int>(indices[blockIdx.x] * weights_stride0);
  const Joined joined = join(kThreads);
  Sum* const sums = vcuda::writable(&partial[joined.first], joined.threads);
  for (int own = 0; own < joined.threads; ++own) vcuda::set(sums[own], Sum(0));
  for_each_joined(joined, kThreads, dim, [&](std::int64_t i, int own) {
    const Sum value = to_float(weights[base_index + i * weights_stride1]);
    const Sum size = value < 0 ? -value : value;
    const Sum more = norm_type == 1 ? size : norm_type == 2 ? size * size : static_cast<Sum>(pow(size, norm_type));
    vcuda::set(sums[own], vcuda::argument(sums[own]) + more);
  });
  __syncthreads();
  if (joined.first == 0) {
    const Sum sum = sum_of_threads(partial, kThreads);
    partial[0] = static_cast<Sum>(pow(sum, static_cast<Sum>(1) / norm_type));
  }
  __syncthreads();
  const Sum norm = partial[0];
  if (!(norm > max_norm)) return;
  const Sum factor = max_norm / (norm + static_cast<Sum>(1e-7));
  for_each_joined(joined, kThreads, dim, [&](std::int64_t i, int) {
    T& weight = weights[base_index + i * weights_stride1];
    weight = from_float<T>(to_float(weight) * factor);
  });
}

template <typename T, typename Sum>
void launch(const EmbeddingRenorm& args, vcuda::Stream stream) {
  with_index(args.wide, [&](auto index) {
    using Index = typename decltype(index)::type;
    auto* weights = static_cast<T*>(args.weight);
    const auto* indices = static_cast<const Index*>(args.indices);
    const auto max_norm = static_cast<Sum>(args.max_norm), norm_type = static_cast<Sum>(args.norm_type);
    const std::int64_t dim = args.features, stride0 = args.row_stride, stride1 = args.feature_stride;
    LAUNCH_WITH_BARRIERS((renorm_kernel<T, Sum, Index>), static_cast<unsigned>(args.count), kThreads, stream, weights,
                         indices, max_norm, norm_type, dim, stride0, stride1);
  });
}

}  // namespace

void embedding_renorm(const EmbeddingRenorm& args, vcuda::Stream stream) {
  switch (args.dtype) {
    case vcuda::DType::f16: return launch<vcuda::Half, float>(args, stream);
    case vcuda::DType::bf16: return launch<vcuda::BFloat16, float>(args, stream);
    case vcuda::DType::f32: return launch<float, float>(args, stream);
    case vcuda::DType::f64: return launch<double, double>(args, stream);
    default: return;
  }
}

}  // namespace kernels
