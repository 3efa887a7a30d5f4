// The kernels behind embedding_bag.h: blocks of 32 x 8 threads, where a row of threads takes 32 features of a bag.
#include "kernels/arithmetic/divide.h"
#include "kernels/indexing/element.h"
#include "kernels/indexing/embedding_bag.h"
#include "kernels/vcuda/floating.h"

#define EMBEDDING_BAG_CU "aten/src/ATen/native/cuda/EmbeddingBag.cu"
#define INVALID_INDEX "!has_invalid_index && \"Invalid input index in EmbeddingBag: index out of range [0, numRows)\""

namespace kernels {
namespace {

using vcuda::argument;
using vcuda::from_float;
using vcuda::to_float;

constexpr int kBlockX = 32, kBlockY = 8;
constexpr int kTogether = vcuda::most_joined(16);
constexpr std::int64_t kMostBlocks = 1024;
constexpr std::int64_t kWarp = 32, kSampleThreads = 512;

// The forward kernels' arguments, typed.
template <typename T, typename Index>
struct Bags {
  const Index *input, *offsets;
  const T *weight, *per_sample_weights;
  T* output;
  Index *offset2bag, *bag_size, *max_indices;
  std::int64_t numIndices, numBags, featureSize, weight_stride0, weight_stride1, per_sample_weights_stride, numRows;
  Index padding_idx;
  bool mean;
  vcuda::Divisor per_bag;  // rows of threads

  __device__ std::int64_t begin_of(std::int64_t bag) const { return bag == 0 ? 0 : argument(offsets)[bag]; }
  __device__ std::int64_t end_of(std::int64_t bag) const {
    return bag < argument(numBags) - 1 ? argument(offsets)[bag + 1] : argument(numIndices);
  }

  // Sums up kTogether features of a bag's rows, which lie side by side from `column` on: so few that they fit into
  // registers.
  __device__ void sum_together(const T* column, const Index* indices, std::int64_t many, T* out,
                               Sum<T> bag_size) const {
    Sum<T> sums[kTogether] = {};
    const Index padding = padding_idx;
    const std::int64_t row_stride = weight_stride0;
    for (std::int64_t i = 0; i < many; ++i) {
      if (indices[i] == padding) continue;
      const T* const row = column + indices[i] * row_stride;
      VECTORIZED for (int f = 0; f < kTogether; ++f) sums[f] += to_float(row[f]);
    }
    if (bag_size != 1) {
      VECTORIZED for (int f = 0; f < kTogether; ++f) sums[f] /= bag_size;
    }
    VECTORIZED for (int f = 0; f < kTogether; ++f) out[f] = from_float<T>(sums[f]);
  }
  __device__ void sum_alone(const T* column, const Index* indices, std::int64_t many, const T* scales, T* out,
                            Sum<T> bag_size) const {
    Sum<T> sum = 0;
    for (std::int64_t i = 0; i < many; ++i) {
      const Sum<T> value = indices[i] == padding_idx ? Sum<T>(0) : to_float(column[indices[i] * weight_stride0]);
      sum += scales == nullptr ? value : value * to_float(scales[i * per_sample_weights_stride]);
    }
    *out = from_float<T>(sum / bag_size);
  }

  // Whether all arrays may be touched, each as a whole. Not asked about a table much larger than what is looked up.
  __device__ bool are_fine() const {
    const std::int64_t table = (numRows - 1) * weight_stride0 + (featureSize - 1) * weight_stride1 + 1;
    return numIndices > 0 && numRows > 0 && table / vcuda::kWorthALook <= numIndices * featureSize &&
           vcuda::are_accessible(weight, table) && vcuda::are_accessible(input, numIndices) &&
           vcuda::are_accessible(offset2bag, numIndices) && vcuda::are_accessible(offsets, numBags) &&
           vcuda::are_accessible(bag_size, numBags) && vcuda::are_accessible(output, numBags * featureSize);
  }

  // What `count` threads of a row make of a bag: features [feature, feature + count), which lie side by side. All that
  // they touch is checked here, but for places within arrays that are fine.
  UNCHECKED void sum(std::int64_t bag, std::int64_t feature, int count) const {
    const bool fine = vcuda::once_a_grid([this] { return are_fine(); });
    if (!fine) vcuda::readable(&offsets[bag], bag + 1 < numBags ? 2 : 1);
    const std::int64_t begin = begin_of(bag), end = end_of(bag), many = end - begin;
    DEVICE_ASSERT(EMBEDDING_BAG_CU, 138, "EmbeddingBag_updateOutputKernel_sum_mean", "end >= begin", end >= begin);
    const Index* const indices = &input[begin];
    Index* const bags = feature == 0 ? &offset2bag[begin] : nullptr;
    if (!fine || begin < 0 || end > numIndices) {
      vcuda::readable(indices, many);
      if (bags != nullptr) vcuda::writable(bags, many);
    }
    const T* const column = weight + feature * weight_stride1;
    const T* const scales =
        per_sample_weights == nullptr ? nullptr : per_sample_weights + begin * per_sample_weights_stride;
    const Index padding = padding_idx;
    const std::int64_t row_stride = weight_stride0, scale_stride = per_sample_weights_stride, rows = numRows;
    std::int64_t valid = 0, counted = 0;
    for (; valid < many; ++valid) {
      const Index index = indices[valid];
      if (static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(rows)) break;
      if (!fine) vcuda::readable(column + index * row_stride, count);
      if (scales != nullptr) vcuda::readable(&scales[valid * scale_stride], 1);
      counted += index != padding;
    }
    if (many != 0) {
      DEVICE_ASSERT(EMBEDDING_BAG_CU, 149, "EmbeddingBag_updateOutputKernel_sum_mean", INVALID_INDEX, valid == many);
    }
    for (std::int64_t i = 0; bags != nullptr && i < many; ++i) bags[i] = static_cast<Index>(bag);
    T* const out = &output[bag * featureSize + feature];
    if (!fine) vcuda::writable(out, count), vcuda::writable(&bag_size[bag], 1);
    bag_size[bag] = static_cast<Index>(counted);
    const Sum<T> divisor = mean && counted != 0 ? static_cast<Sum<T>>(counted) : Sum<T>(1);
    int f = 0;
    if (scales == nullptr) {
      for (; count - f >= kTogether; f += kTogether) sum_together(column + f, indices, many, out + f, divisor);
    }
    for (; f < count; ++f) sum_alone(column + f, indices, many, scales, out + f, divisor);
  }
};

// Calls `body(bag, feature, count)` for what falls to this thread, features [feature, feature + count), where up to
// `most` threads of a row run as one. `per_bag`: the rows of threads that a bag takes.
template <typename Body>
__device__ void for_each_chunk(std::int64_t bags, std::int64_t features, const vcuda::Divisor& per_bag,
                               std::int64_t most, const Body& body) {
  const std::int64_t rows = argument(per_bag.number), first = threadIdx.x;
  if (rows == 1 && first >= features) RETURN_ROW;
  const int joined = vcuda::join_row(most);
  const std::int64_t chunks = bags * rows, step = static_cast<std::int64_t>(gridDim.x) * blockDim.y;
  for (std::int64_t chunk = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y; chunk < chunks;
       chunk += step) {
    const std::int64_t bag = quotient(chunk, per_bag);
    const std::int64_t feature = (chunk - bag * rows) * blockDim.x + first;
    const std::int64_t left = features - feature;
    if (left > 0) body(bag, feature, left < joined ? static_cast<int>(left) : joined);
  }
}

template <typename T, typename Index>
__global__ void EmbeddingBag_updateOutputKernel_sum_mean(KERNEL_STRUCT(Bags<T, Index>) bags) {
  // Features of a row that do not lie side by side are no row.
  const std::int64_t most = bags.weight_stride1 == 1 ? kBlockX : 1, features = bags.featureSize;
  for_each_chunk(bags.numBags, features, bags.per_bag, most,
                 [&](std::int64_t bag, std::int64_t feature, int count) { bags.sum(bag, feature, count); });
}

template <typename T, typename Index>
__global__ void EmbeddingBag_updateOutputKernel_max(KERNEL_STRUCT(Bags<T, Index>) bags) {
  for_each_chunk(bags.numBags, bags.featureSize, bags.per_bag, 1, [&](std::int64_t bag, std::int64_t feature, int) {
    const std::int64_t begin = bags.begin_of(bag), end = bags.end_of(bag);
    DEVICE_ASSERT(EMBEDDING_BAG_CU, 77, "EmbeddingBag_updateOutputKernel_max", "end >= begin", end >= begin);
    T most = from_float<T>(0);
    Index word = -1;
    std::int64_t counted = 0;
    for (std::int64_t emb = begin; emb < end; ++emb) {
      const Index index = bags.input[emb];
      DEVICE_ASSERT(EMBEDDING_BAG_CU, 89, "EmbeddingBag_updateOutputKernel_max", INVALID_INDEX,
                    index >= 0 && index < bags.numRows);
      if (feature == 0) bags.offset2bag[emb] = static_cast<Index>(bag);
      if (index == bags.padding_idx) continue;
      const T value = bags.weight[feature * bags.weight_stride1 + index * bags.weight_stride0];
      if (counted == 0 || to_float(value) > to_float(most)) {
        most = value;
        word = index;
      }
      ++counted;
    }
    bags.bag_size[bag] = static_cast<Index>(counted);
    bags.max_indices[bag * bags.featureSize + feature] = word;
    bags.output[bag * bags.featureSize + feature] = most;
  });
}

// A thread a feature, so that no two add to one element and the order of the indices decides the rounding.
template <typename T, typename Index>
__global__ void embedding_bag_backward_kernel(const T* grad, const Index* indices, const Index* offset2bag,
                                              const Index* bag_size, const T* sample_weights,
                                              const std::int64_t* frequency, std::int64_t count, std::int64_t features,
                                              std::int64_t sample_stride, Index padding_idx, Sum<T>* sums) {
  const std::int64_t feature = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (feature >= features) return;
  for (std::int64_t i = 0; i < count; ++i) {
    const Index index = indices[i];
    if (index == padding_idx) continue;
    const Index bag = offset2bag[i];
    Sum<T> part = to_float(grad[bag * features + feature]);
    if (sample_weights != nullptr) part *= to_float(sample_weights[i * sample_stride]);
    if (bag_size != nullptr) part /= static_cast<Sum<T>>(bag_size[bag]);
    if (frequency != nullptr) part /= static_cast<Sum<T>>(frequency[index]);
    sums[index * features + feature] += part;
  }
}

template <typename T, typename Index>
__global__ void EmbeddingBag_accGradParametersKernel_max(const Index* max_indices, const T* gradOutput, Sum<T>* sums,
                                                         std::int64_t numBags, std::int64_t features,
                                                         KERNEL_STRUCT(vcuda::Divisor) per_bag, Index padding_idx) {
  for_each_chunk(numBags, features, per_bag, 1, [&](std::int64_t bag, std::int64_t feature, int) {
    const Index word = max_indices[bag * features + feature];
    if (word < 0 || word == padding_idx) return;  // -1: the bag is empty
    atomicAdd(&sums[word * features + feature], static_cast<Sum<T>>(to_float(gradOutput[bag * features + feature])));
  });
}

template <typename Index>
__global__ void count_indices_kernel(const Index* indices, std::int64_t count, std::int64_t* frequency) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&frequency[indices[i]], std::int64_t{1});
}

// ATen gives a warp to each sample; here the first thread of the warp does its work.
template <typename T, typename Index>
__global__ void _embedding_bag_per_sample_weights_backward_kernel(const T* grad, const T* weight,
                                                                  std::int64_t weight_stride0,
                                                                  std::int64_t weight_stride1, const Index* indices,
                                                                  const Index* offset2bag, std::int64_t num_samples,
                                                                  std::int64_t features, T* output, Index padding_idx) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t sample = thread / kWarp;
  if (thread % kWarp != 0 || sample >= num_samples) return;
  Sum<T> result = 0;
  const int bag = static_cast<int>(offset2bag[sample]);
  const int index = static_cast<int>(indices[sample]);
  if (index != padding_idx) {
    for (std::int64_t feature = 0; feature < features; ++feature) {
      result += to_float(grad[bag * features + feature]) *
                to_float(weight[weight_stride0 * index + weight_stride1 * feature]);
    }
  }
  output[sample] = from_float<T>(result);
}

// That many rows of threads have a thread for each feature.
std::int64_t rows_of(std::int64_t features) { return (features + kBlockX - 1) / kBlockX; }

// ATen launches 1024 blocks always; those without work are left out.
unsigned grid_of(std::int64_t bags, std::int64_t features) {
  const std::int64_t wanted = (bags * rows_of(features) + kBlockY - 1) / kBlockY;
  return static_cast<unsigned>(wanted < kMostBlocks ? wanted : kMostBlocks);
}

unsigned blocks_of(std::int64_t count, std::int64_t threads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

// Calls `launch(Floating<T>{}, Element<Index>{})`.
template <typename Args, typename Launch>
void with_types(const Args& args, const Launch& launch) {
  with_floating(args.dtype, [&](auto element) { with_index(args.wide, [&](auto index) { launch(element, index); }); });
}

template <typename T, typename Index>
Bags<T, Index> typed(const EmbeddingBag& args, void* max_indices) {
  return {static_cast<const Index*>(args.indices),
          static_cast<const Index*>(args.offsets),
          static_cast<const T*>(args.weight),
          static_cast<const T*>(args.sample_weights),
          static_cast<T*>(args.output),
          static_cast<Index*>(args.offset2bag),
          static_cast<Index*>(args.bag_size),
          static_cast<Index*>(max_indices),
          args.count,
          args.bags,
          args.features,
          args.row_stride,
          args.feature_stride,
          args.sample_stride,
          args.rows,
          static_cast<Index>(args.padding_index),
          args.mean,
          rows_of(args.features)};
}

#define BACKWARD_LOCALS                                                \
  using T = typename decltype(element)::type;                          \
  using Index = typename decltype(index_type)::type;                   \
  const auto* grad = static_cast<const T*>(args.grad);                 \
  const auto* indices = static_cast<const Index*>(args.indices);       \
  const auto* offset2bag = static_cast<const Index*>(args.offset2bag); \
  const std::int64_t count = args.count, features = args.features;     \
  const Index padding = static_cast<Index>(args.padding_index);        \
  (void)grad, (void)offset2bag, (void)features, (void)padding

}  // namespace

void embedding_bag_sum_mean(const EmbeddingBag& args, vcuda::Stream stream) {
  with_types(args, [&](auto element, auto index_type) {
    using T = typename decltype(element)::type;
    using Index = typename decltype(index_type)::type;
    const auto bags = typed<T, Index>(args, nullptr);
    LAUNCH((EmbeddingBag_updateOutputKernel_sum_mean<T, Index>), grid_of(args.bags, args.features),
           dim3(kBlockX, kBlockY), stream, bags);
  });
}

void embedding_bag_max(const EmbeddingBag& args, void* max_indices, vcuda::Stream stream) {
  with_types(args, [&](auto element, auto index_type) {
    using T = typename decltype(element)::type;
    using Index = typename decltype(index_type)::type;
    const auto bags = typed<T, Index>(args, max_indices);
    LAUNCH((EmbeddingBag_updateOutputKernel_max<T, Index>), grid_of(args.bags, args.features), dim3(kBlockX, kBlockY),
           stream, bags);
  });
}

void embedding_bag_backward(const EmbeddingBagBackward& args, void* sums, vcuda::Stream stream) {
  with_types(args, [&](auto element, auto index_type) {
    BACKWARD_LOCALS;
    const auto* bag_size = static_cast<const Index*>(args.bag_size);
    const auto* sample_weights = static_cast<const T*>(args.sample_weights);
    const std::int64_t* frequency = args.frequency;
    const std::int64_t sample_stride = args.sample_stride;
    auto* out = static_cast<Sum<T>*>(sums);
    const std::int64_t threads = features < kSampleThreads ? features : kSampleThreads;
    LAUNCH((embedding_bag_backward_kernel<T, Index>), blocks_of(features, threads), static_cast<unsigned>(threads),
           stream, grad, indices, offset2bag, bag_size, sample_weights, frequency, count, features, sample_stride,
           padding, out);
  });
}

void embedding_bag_max_backward(const EmbeddingBagBackward& args, void* sums, vcuda::Stream stream) {
  with_types(args, [&](auto element, auto index_type) {
    BACKWARD_LOCALS;
    auto* out = static_cast<Sum<T>*>(sums);
    const vcuda::Divisor per_bag = rows_of(features);
    LAUNCH((EmbeddingBag_accGradParametersKernel_max<T, Index>), grid_of(count, features), dim3(kBlockX, kBlockY),
           stream, indices, grad, out, count, features, per_bag, padding);
  });
}

void count_indices(const EmbeddingBagBackward& args, std::int64_t* frequency, vcuda::Stream stream) {
  with_index(args.wide, [&](auto index_type) {
    using Index = typename decltype(index_type)::type;
    const auto* indices = static_cast<const Index*>(args.indices);
    const std::int64_t count = args.count;
    LAUNCH((count_indices_kernel<Index>), blocks_of(count, kSampleThreads), kSampleThreads, stream, indices, count,
           frequency);
  });
}

void embedding_bag_sample_weights_backward(const EmbeddingBagBackward& args, const void* weight,
                                           std::int64_t row_stride, std::int64_t feature_stride, void* output,
                                           vcuda::Stream stream) {
  with_types(args, [&](auto element, auto index_type) {
    BACKWARD_LOCALS;
    const auto* rows = static_cast<const T*>(weight);
    auto* out = static_cast<T*>(output);
    LAUNCH((_embedding_bag_per_sample_weights_backward_kernel<T, Index>), blocks_of(count * kWarp, kSampleThreads),
           kSampleThreads, stream, grad, rows, row_stride, feature_stride, indices, offset2bag, count, features, out,
           padding);
  });
}

}  // namespace kernels
