// The kernels behind multinomial.h, launched as ATen launches them: a block a row (at most four a multiprocessor) to
// scale, blocks of 128 threads along the samples and one row of blocks a distribution to draw.
#include "kernels/sampling/multinomial.h"
#include "kernels/sampling/random.h"
#include "kernels/vcuda/device_language.h"

#define MULTINOMIAL_CU "aten/src/ATen/native/cuda/MultinomialKernel.cu"

namespace kernels {
namespace {

using vcuda::from_float;
using vcuda::to_float;

constexpr std::int64_t kMultiprocessors = 132;
constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kSampleThreads = 128;
constexpr std::int64_t kMaxGridY = 65535;

template <typename T>
__device__ T plus(T a, T b) {
  return from_float<T>(to_float(a) + to_float(b));
}

template <typename T>
__global__ void renormRowsL1(T* dist, std::int64_t rows, std::int64_t cols) {
  __shared__ T partial[kMaxThreads];
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    T* const weights = dist + row * cols;
    T sum = from_float<T>(0);
    T val = from_float<T>(0);
    for (std::int64_t col = threadIdx.x; col < cols; col += blockDim.x) {
      val = weights[col];
      DEVICE_ASSERT(MULTINOMIAL_CU, 60, "renormRowsL1", "!(val < zero)", !(to_float(val) < 0));
      sum = plus(sum, val);
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (unsigned i = 1; i < blockDim.x; ++i) sum = plus(sum, partial[i]);
      DEVICE_ASSERT(MULTINOMIAL_CU, 66, "renormRowsL1", "!(val < zero)", !(to_float(val) < 0));
      partial[0] = sum;
    }
    __syncthreads();
    sum = partial[0];
    if (to_float(sum) > 0) {
      for (std::int64_t col = threadIdx.x; col < cols; col += blockDim.x) {
        weights[col] = from_float<T>(to_float(weights[col]) / to_float(sum));
      }
    }
    __syncthreads();
  }
}

template <typename T>
__device__ std::int64_t binarySearchForMultinomial(const T* cumdist, const T* dist, std::int64_t size, double val) {
  DEVICE_ASSERT(MULTINOMIAL_CU, 112, "binarySearchForMultinomial", "cumdist[size - 1] > static_cast<scalar_t>(0)",
                to_float(cumdist[size - 1]) > 0);
  std::int64_t start = 0;
  std::int64_t end = size;
  while (start < end) {
    const std::int64_t mid = start + (end - start) / 2;
    if (to_float(cumdist[mid]) < val) {
      start = mid + 1;
    } else {
      end = mid;
    }
  }
  // Rounding may leave the last sum below `val`; a category of weight zero must not be drawn for that.
  if (start == size) start = size - 1;
  while (start >= 1 && to_float(dist[start]) == 0) --start;
  return start;
}

template <typename T>
__global__ void sampleMultinomialWithReplacement(std::uint64_t seed, std::int64_t totalSamples, std::int64_t* dest,
                                                 std::int64_t distributions, std::int64_t categories,
                                                 const T* normDistPrefixSum, const T* normDist) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t row = blockIdx.y; row < distributions; row += gridDim.y) {
    std::int64_t sample = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (; sample < totalSamples; sample += step) {
      const std::int64_t at = row * totalSamples + sample;
      const double uniform = uniform_of(random_words(seed, static_cast<std::uint64_t>(at), 0).word[0]);
      dest[at] = binarySearchForMultinomial(normDistPrefixSum + row * categories, normDist + row * categories,
                                            categories, to_float(from_float<T>(uniform)));
    }
  }
}

template <typename T>
void launch_renorm(const Multinomial& args, void* weights, vcuda::Stream stream) {
  const std::int64_t rows = args.rows, cols = args.categories;
  const unsigned grid = static_cast<unsigned>(rows < kMultiprocessors * 4 ? rows : kMultiprocessors * 4);
  const std::int64_t wanted = (cols + kWarp - 1) / kWarp * kWarp;
  const unsigned block = static_cast<unsigned>(wanted < kMaxThreads ? wanted : kMaxThreads);
  auto* dist = static_cast<T*>(weights);
  LAUNCH_WITH_BARRIERS((renormRowsL1<T>), grid, block, stream, dist, rows, cols);
}

template <typename T>
void launch_sampling(const Multinomial& args, const void* weights, const void* sums, std::int64_t samples,
                     std::uint64_t seed, std::int64_t* out, vcuda::Stream stream) {
  const std::int64_t rows = args.rows, categories = args.categories;
  const dim3 grid(static_cast<unsigned>((samples + kSampleThreads - 1) / kSampleThreads),
                  static_cast<unsigned>(rows < kMaxGridY ? rows : kMaxGridY));
  const auto* prefix = static_cast<const T*>(sums);
  const auto* dist = static_cast<const T*>(weights);
  LAUNCH((sampleMultinomialWithReplacement<T>), grid, kSampleThreads, stream, seed, samples, out, rows, categories,
         prefix, dist);
}

}  // namespace

void renorm_rows(const Multinomial& args, void* weights, vcuda::Stream stream) {
  if (args.dtype == vcuda::DType::f16) launch_renorm<vcuda::Half>(args, weights, stream);
  if (args.dtype == vcuda::DType::bf16) launch_renorm<vcuda::BFloat16>(args, weights, stream);
  if (args.dtype == vcuda::DType::f32) launch_renorm<float>(args, weights, stream);
  if (args.dtype == vcuda::DType::f64) launch_renorm<double>(args, weights, stream);
}

void sample_with_replacement(const Multinomial& args, const void* weights, const void* sums, std::int64_t samples,
                             std::uint64_t seed, std::int64_t* out, vcuda::Stream stream) {
  if (args.dtype == vcuda::DType::f16) {
    launch_sampling<vcuda::Half>(args, weights, sums, samples, seed, out, stream);
  } else if (args.dtype == vcuda::DType::bf16) {
    launch_sampling<vcuda::BFloat16>(args, weights, sums, samples, seed, out, stream);
  } else if (args.dtype == vcuda::DType::f32) {
    launch_sampling<float>(args, weights, sums, samples, seed, out, stream);
  } else {
    launch_sampling<double>(args, weights, sums, samples, seed, out, stream);
  }
}

}  // namespace kernels
