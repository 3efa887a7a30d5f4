// The kernels behind segment_reduce.h: a thread an output element. One-dimensional data goes through a block a
// segment, as CUB's segmented reduction does, and a mean then divides in a kernel of its own.
#include <cmath>

#include "kernels/indexing/element.h"
#include "kernels/reduction/segment_reduce.h"
#include "kernels/vcuda/floating.h"

#define SEGMENT_REDUCE_CU "aten/src/ATen/native/cuda/SegmentReduce.cu"

namespace kernels {
namespace {

using vcuda::from_float;
using vcuda::to_float;

constexpr std::int64_t kThreads = 256;

struct Shape {
  std::int64_t outer, size, segments, inner;
};

// Rounded to T after each step, as a kernel that keeps its result in T does. A NaN stays.
template <typename T>
__device__ T combined(T a, T b, SegmentReduction reduction) {
  const auto x = to_float(a);
  const auto y = to_float(b);
  switch (reduction) {
    case SegmentReduction::mean:
    case SegmentReduction::sum: return from_float<T>(x + y);
    case SegmentReduction::product: return from_float<T>(x * y);
    case SegmentReduction::maximum: return y != y || x < y ? b : a;
    case SegmentReduction::minimum: return y != y || y < x ? b : a;
  }
  return a;
}

template <typename T>
__device__ T divided(T value, std::int64_t by) {
  const auto x = to_float(value);
  return x != x ? value : from_float<T>(x / static_cast<Sum<T>>(by));
}

template <typename T, typename Index>
__global__ void segment_reduce_forward_kernel(SegmentReduction reduction, T* output_data, const T* values_data,
                                              const Index* lengths_data, const Index* bounds,
                                              KERNEL_STRUCT(Shape) shape, bool is_initial_set, double initial) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= shape.outer * shape.segments * shape.inner) return;
  const std::int64_t lengths_idx = i / shape.inner;
  const std::int64_t outer = lengths_idx / shape.segments, segment = lengths_idx % shape.segments;
  const Index* bound = bounds + outer * (shape.segments + 1) + segment;
  const T* column = values_data + outer * shape.size * shape.inner + i % shape.inner;
  T value = from_float<T>(initial);
  for (Index j = bound[0]; j < bound[1]; ++j) value = combined(value, column[j * shape.inner], reduction);
  DEVICE_ASSERT(SEGMENT_REDUCE_CU, 146, "segment_reduce_forward_kernel", "lengths_data[lengths_idx] >= 0",
                lengths_data[lengths_idx] >= 0);
  if (reduction == SegmentReduction::mean) {
    const Index length = lengths_data[lengths_idx];
    if (length > 0) value = divided(value, length);
    if (length == 0 && !is_initial_set) value = from_float<T>(NAN);
  }
  output_data[i] = value;
}

// Bounds in the wrong order are an empty segment.
template <typename T, typename Index>
__global__ void DeviceSegmentedReduceKernel(SegmentReduction reduction, T* output_data, const T* values_data,
                                            const Index* bounds, double initial) {
  T value = from_float<T>(initial);
  for (Index j = bounds[blockIdx.x]; j < bounds[blockIdx.x + 1]; ++j) {
    value = combined(value, values_data[j], reduction);
  }
  output_data[blockIdx.x] = value;
}

template <typename T, typename Index>
__global__ void post_sum_div_kernel(T* output_data, const Index* lengths_data, std::int64_t segment_count,
                                    bool is_initial_set, double initial) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= segment_count) return;
  DEVICE_ASSERT(SEGMENT_REDUCE_CU, 78, "post_sum_div_kernel", "lengths_data[index] >= 0", lengths_data[index] >= 0);
  if (lengths_data[index] == 0) {
    output_data[index] = from_float<T>(is_initial_set ? initial : NAN);
  } else {
    output_data[index] = divided(output_data[index], lengths_data[index]);
  }
}

// The gradient of one segment's extreme goes to every element that equals it, in equal parts. As in ATen, only positive
// gradients are divided, and a NaN among the data takes part.
template <typename T, typename Index>
__device__ void spread_over_extremes(const T* column, T* grad_column, T extreme, T grad, Index begin, Index end,
                                     std::int64_t inner) {
  std::int64_t counter = 0;
  for (Index j = begin; j < end; ++j) {
    const auto x = to_float(column[j * inner]);
    if (x != x || x == to_float(extreme)) {
      grad_column[j * inner] = grad;
      ++counter;
    }
  }
  if (counter < 2) return;
  for (Index j = begin; j < end; ++j) {
    if (to_float(grad_column[j * inner]) > 0) grad_column[j * inner] = divided(grad_column[j * inner], counter);
  }
}

template <typename T, typename Index>
__device__ T product_of_others(const T* column, Index begin, Index end, Index without, std::int64_t inner,
                               double initial) {
  T product = from_float<T>(initial);
  for (Index j = begin; j < end; ++j) {
    if (j != without) product = combined(product, column[j * inner], SegmentReduction::product);
  }
  return product;
}

template <typename T, typename Index>
__global__ void segment_reduce_backward_kernel(SegmentReduction reduction, T* grad_input_data, const T* grad_data,
                                               const T* output_data, const T* values_data, const Index* lengths_data,
                                               const Index* bounds, KERNEL_STRUCT(Shape) shape, double initial) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= shape.outer * shape.segments * shape.inner) return;
  const std::int64_t row = i / shape.inner;
  const std::int64_t outer = row / shape.segments;
  if (lengths_data[row] == 0) return;
  const Index* bound = bounds + outer * (shape.segments + 1) + row % shape.segments;
  const Index begin = bound[0], end = bound[1];
  const std::int64_t corner = outer * shape.size * shape.inner + i % shape.inner;
  const T* column = values_data + corner;
  T* grad_column = grad_input_data + corner;
  const T grad = grad_data[i];
  if (reduction == SegmentReduction::maximum || reduction == SegmentReduction::minimum) {
    spread_over_extremes(column, grad_column, output_data[i], grad, begin, end, shape.inner);
    return;
  }
  const T mean = reduction == SegmentReduction::mean ? divided(grad, lengths_data[row]) : grad;
  const T times_output = combined(grad, output_data[i], SegmentReduction::product);
  for (Index j = begin; j < end; ++j) {
    T& to = grad_column[j * shape.inner];
    if (reduction != SegmentReduction::product) {
      to = mean;
      continue;
    }
    const auto x = to_float(column[j * shape.inner]);
    if (x != x || x == 0) {
      to = combined(grad, product_of_others(column, begin, end, j, shape.inner, initial), SegmentReduction::product);
    } else {
      to = from_float<T>(to_float(times_output) / x);
    }
  }
}

unsigned blocks_of(std::int64_t count) { return static_cast<unsigned>((count + kThreads - 1) / kThreads); }

// Calls `launch(Floating<T>{}, Element<Index>{})`.
template <typename Launch>
void with_types(const SegmentReduce& args, const Launch& launch) {
  with_floating(args.dtype, [&](auto element) { with_index(args.wide, [&](auto index) { launch(element, index); }); });
}

#define SEGMENT_LOCALS                                                      \
  using T = typename decltype(element)::type;                               \
  using Index = typename decltype(index)::type;                             \
  const auto* data = static_cast<const T*>(args.data);                      \
  const auto* lengths = static_cast<const Index*>(args.lengths);            \
  const auto* bounds = static_cast<const Index*>(args.bounds);              \
  const Shape shape{args.outer, args.size, args.segments, args.inner};      \
  const SegmentReduction reduction = args.reduction;                        \
  const double initial = args.initial;                                      \
  const unsigned grid = blocks_of(args.outer * args.segments * args.inner); \
  (void)shape

}  // namespace

void segment_reduce(const SegmentReduce& args, void* output, vcuda::Stream stream) {
  with_types(args, [&](auto element, auto index) {
    SEGMENT_LOCALS;
    auto* out = static_cast<T*>(output);
    const bool given = args.initial_is_given;
    LAUNCH((segment_reduce_forward_kernel<T, Index>), grid, kThreads, stream, reduction, out, data, lengths, bounds,
           shape, given, initial);
  });
}

void segment_reduce_1d(const SegmentReduce& args, void* output, vcuda::Stream stream) {
  with_types(args, [&](auto element, auto index) {
    SEGMENT_LOCALS;
    auto* out = static_cast<T*>(output);
    const bool given = args.initial_is_given;
    const std::int64_t segments = args.segments;
    LAUNCH((DeviceSegmentedReduceKernel<T, Index>), static_cast<unsigned>(segments), 1, stream, reduction, out, data,
           bounds, initial);
    if (reduction != SegmentReduction::mean) return;
    LAUNCH((post_sum_div_kernel<T, Index>), grid, kThreads, stream, out, lengths, segments, given, initial);
  });
}

void segment_reduce_backward(const SegmentReduce& args, const void* output, const void* grad_output, void* grad_input,
                             vcuda::Stream stream) {
  with_types(args, [&](auto element, auto index) {
    SEGMENT_LOCALS;
    const auto* reduced = static_cast<const T*>(output);
    const auto* grad = static_cast<const T*>(grad_output);
    auto* to = static_cast<T*>(grad_input);
    LAUNCH((segment_reduce_backward_kernel<T, Index>), grid, kThreads, stream, reduction, to, grad, reduced, data,
           lengths, bounds, shape, initial);
  });
}

}  // namespace kernels
