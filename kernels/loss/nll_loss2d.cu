// The kernels behind nll_loss2d.h. The reduced forward adds up with atomics where ATen has a tree in shared memory:
// the same sum in another order, without a barrier for blocks of 1024 threads.
#include <type_traits>

#include "kernels/arithmetic/divide.h"
#include "kernels/loss/nll_loss2d.h"
#include "kernels/vcuda/device_language.h"
#include "kernels/vcuda/floating.h"

#define NLL_LOSS2D_CU "aten/src/ATen/native/cuda/NLLLoss2d.cu"

namespace kernels {
namespace {

using vcuda::argument;
using vcuda::from_float;
using vcuda::to_float;

constexpr int kThreads = 1024;

struct Sizes {
  vcuda::Divisor batch, height, width;
};

// Calls `body(sample, row and column as one number)` for the elements that fall to this thread, and to those that it
// has joined, in ATen's numbering: the sample moves fastest, then the row, then the column. Each of the threads joined
// takes the same turn of the loop; among them samples come one after another, as they lie in memory.
template <typename Body>
__device__ void for_each_pixel(std::int64_t count, const Sizes& sizes, const Body& body) {
  const std::int64_t batch = argument(sizes.batch.number), height = argument(sizes.height.number);
  const std::int64_t width = argument(sizes.width.number), step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (first >= count) RETURN_ROW;
  const int joined = vcuda::join_row(kThreads);
  for (; first < count; first += step) {
    const std::int64_t end = count - first < joined ? count : first + joined;
    const std::int64_t line = quotient(first, sizes.batch), sample0 = first - line * batch;
    const std::int64_t samples = end - first < batch ? end - first : batch;
    for (std::int64_t i = 0; i < samples; ++i) {
      const bool wraps = sample0 + i >= batch;
      const std::int64_t sample = wraps ? sample0 + i - batch : sample0 + i, from = wraps ? line + 1 : line;
      std::int64_t column = quotient(from, sizes.height), row = from - column * height;
      for (std::int64_t at = from * batch + sample; at < end; at += batch) {
        body(sample, row * width + column);
        if (++row == height) {
          row = 0;
          ++column;
        }
      }
    }
  }
}

// The reduced kernels' numbering: some blocks a sample. Calls `body(sample, pixel, label)`.
template <typename Body>
__device__ void for_each_label(const std::int64_t* target, std::int64_t pixels, const vcuda::Divisor& blocks_per_sample,
                               const Body& body) {
  const std::int64_t blocks = argument(blocks_per_sample.number);
  const std::int64_t sample = quotient(blockIdx.x, blocks_per_sample), block = blockIdx.x - sample * blocks;
  const std::int64_t step = blockDim.x * blocks;
  std::int64_t first = block * blockDim.x + threadIdx.x;
  if (first >= pixels) RETURN_ROW;
  const int joined = vcuda::join_row(kThreads);
  for (; first < pixels; first += step) {
    const int count = pixels - first < joined ? static_cast<int>(pixels - first) : joined;
    const std::int64_t* const labels = vcuda::readable(&target[sample * pixels + first], count);
    for (int own = 0; own < count; ++own) body(sample, first + own, vcuda::argument(labels[own]));
  }
}

template <typename T>
__global__ void nll_loss2d_forward_no_reduce_kernel(std::int64_t n_threads, const T* input, const std::int64_t* target,
                                                    T* output, const T* weights, KERNEL_STRUCT(Sizes) sizes,
                                                    std::int64_t n_classes, std::int64_t ignore_index) {
  const std::int64_t pixels = argument(sizes.height.number) * argument(sizes.width.number);
  for_each_pixel(n_threads, sizes, [&](std::int64_t sample, std::int64_t place) {
    const std::int64_t at = sample * pixels + place;
    const std::int64_t cur_target = target[at];
    if (cur_target == ignore_index) {
      output[at] = from_float<T>(0);
      return;
    }
    DEVICE_ASSERT(NLL_LOSS2D_CU, 73, "nll_loss2d_forward_no_reduce_kernel", "cur_target >= 0 && cur_target < n_classes",
                  cur_target >= 0 && cur_target < n_classes);
    const Sum<T> weight = weights != nullptr ? to_float(weights[cur_target]) : Sum<T>(1);
    const std::int64_t from = (sample * n_classes + cur_target) * pixels + place;
    output[at] = from_float<T>(-to_float(input[from]) * weight);
  });
}

template <typename T, typename Index>
__global__ void nll_loss2d_forward_kernel(Sum<T>* sums, const T* input, const std::int64_t* target, const T* weights,
                                          std::int64_t n_classes, std::int64_t map_nelem,
                                          KERNEL_STRUCT(vcuda::Divisor) blocks_per_sample, std::int64_t ignore_index) {
  Sum<T> loss = 0;
  Sum<T> weight_sum = 0;
  bool any = false;
  const auto add = [&](std::int64_t sample, std::int64_t pixel, std::int64_t label) {
    const Index t = static_cast<Index>(label);
    if (t == ignore_index) return;
    DEVICE_ASSERT(NLL_LOSS2D_CU, 106, "nll_loss2d_forward_kernel", "t >= 0 && t < n_classes", t >= 0 && t < n_classes);
    const Sum<T> weight = weights != nullptr ? to_float(weights[t]) : Sum<T>(1);
    const std::int64_t input_index = sample * map_nelem * n_classes + pixel + map_nelem * t;
    DEVICE_ASSERT(NLL_LOSS2D_CU, 109, "nll_loss2d_forward_kernel", "input_index >= 0", input_index >= 0);
    loss -= to_float(input[input_index]) * weight;
    weight_sum += weight;
    any = true;
  };
  for_each_label(target, map_nelem, blocks_per_sample, add);
  if (any) {
    atomicAdd(&sums[0], loss);
    atomicAdd(&sums[1], weight_sum);
  }
}

template <typename T>
__global__ void nll_loss2d_forward_size_average_kernel(const Sum<T>* sums, T* output, T* total_weight, bool mean) {
  *output = from_float<T>(mean ? sums[0] / sums[1] : sums[0]);
  *total_weight = from_float<T>(sums[1]);
}

template <typename T>
__global__ void nll_loss2d_backward_no_reduce_kernel(std::int64_t n_threads, const std::int64_t* target,
                                                     const T* grad_output, T* grad_input, const T* weights,
                                                     KERNEL_STRUCT(Sizes) sizes, std::int64_t n_classes,
                                                     std::int64_t ignore_index) {
  const std::int64_t pixels = argument(sizes.height.number) * argument(sizes.width.number);
  for_each_pixel(n_threads, sizes, [&](std::int64_t sample, std::int64_t place) {
    const std::int64_t at = sample * pixels + place;
    const std::int64_t cur_target = target[at];
    if (cur_target == ignore_index) return;
    DEVICE_ASSERT(NLL_LOSS2D_CU, 160, "nll_loss2d_backward_no_reduce_kernel",
                  "cur_target >= 0 && cur_target < n_classes", cur_target >= 0 && cur_target < n_classes);
    const Sum<T> weight = weights != nullptr ? to_float(weights[cur_target]) : Sum<T>(1);
    const std::int64_t to = (sample * n_classes + cur_target) * pixels + place;
    grad_input[to] = from_float<T>(-weight * to_float(grad_output[at]));
  });
}

template <typename T>
__global__ void nll_loss2d_backward_kernel(T* grad_input, const T* grad_output, const std::int64_t* target,
                                           const T* weights, const T* total_weight, bool size_average,
                                           std::int64_t n_classes, std::int64_t map_nelem,
                                           KERNEL_STRUCT(vcuda::Divisor) blocks_per_sample, std::int64_t ignore_index) {
  const Sum<T> grad_sum = to_float(*grad_output);
  const Sum<T> grad = size_average ? -(grad_sum / to_float(*total_weight)) : -grad_sum;
  for_each_label(target, map_nelem, blocks_per_sample, [&](std::int64_t sample, std::int64_t pixel, std::int64_t t) {
    if (t == ignore_index) return;
    DEVICE_ASSERT(NLL_LOSS2D_CU, 197, "nll_loss2d_backward_kernel", "t >= 0 && t < n_classes", t >= 0 && t < n_classes);
    const std::int64_t grad_input_index = pixel + map_nelem * t;
    DEVICE_ASSERT(NLL_LOSS2D_CU, 199, "nll_loss2d_backward_kernel", "grad_input_index >= 0", grad_input_index >= 0);
    grad_input[sample * map_nelem * n_classes + grad_input_index] =
        from_float<T>(weights != nullptr ? to_float(weights[t]) * grad : grad);
  });
}

unsigned blocks_of(std::int64_t count) { return static_cast<unsigned>((count + kThreads - 1) / kThreads); }

std::int64_t blocks_per_sample_of(std::int64_t pixels) {
  const std::int64_t blocks = blocks_of(pixels) / 128;
  return blocks == 0 ? 1 : blocks;
}

// The launch itself needs plain locals: it copies what it uses.
#define NLL2D_TYPES_AND_POINTERS                                                \
  using T = typename decltype(element)::type;                                   \
  const auto* target = static_cast<const std::int64_t*>(args.labels);           \
  const auto* weights = static_cast<const T*>(args.weights);                    \
  const std::int64_t classes = args.classes, pixels = args.height * args.width; \
  const std::int64_t ignored = args.ignore_index

}  // namespace

void nll_loss2d_forward_no_reduce(const NllLoss2d& args, void* losses, vcuda::Stream stream) {
  with_floating(args.dtype, [&](auto element) {
    NLL2D_TYPES_AND_POINTERS;
    const std::int64_t count = args.batch * pixels;
    const Sizes sizes{args.batch, args.height, args.width};
    const auto* input = static_cast<const T*>(args.input);
    auto* output = static_cast<T*>(losses);
    LAUNCH((nll_loss2d_forward_no_reduce_kernel<T>), blocks_of(count), kThreads, stream, count, input, target, output,
           weights, sizes, classes, ignored);
  });
}

void nll_loss2d_forward(const NllLoss2d& args, void* loss, void* total_weight, void* sums, vcuda::Stream stream) {
  with_floating(args.dtype, [&](auto element) {
    NLL2D_TYPES_AND_POINTERS;
    const vcuda::Divisor per_sample = blocks_per_sample_of(pixels);
    const unsigned grid = static_cast<unsigned>(per_sample.number * args.batch);
    const auto* input = static_cast<const T*>(args.input);
    auto* output = static_cast<T*>(loss);
    auto* total = static_cast<T*>(total_weight);
    auto* acc = static_cast<Sum<T>*>(sums);
    const bool mean = args.mean;
    if (args.narrow) {
      LAUNCH((nll_loss2d_forward_kernel<T, std::int32_t>), grid, kThreads, stream, acc, input, target, weights, classes,
             pixels, per_sample, ignored);
    } else {
      LAUNCH((nll_loss2d_forward_kernel<T, std::int64_t>), grid, kThreads, stream, acc, input, target, weights, classes,
             pixels, per_sample, ignored);
    }
    LAUNCH((nll_loss2d_forward_size_average_kernel<T>), 1, 1, stream, acc, output, total, mean);
  });
}

void nll_loss2d_backward_no_reduce(const NllLoss2d& args, const void* grad_output, void* grad_input,
                                   vcuda::Stream stream) {
  with_floating(args.dtype, [&](auto element) {
    NLL2D_TYPES_AND_POINTERS;
    const std::int64_t count = args.batch * pixels;
    const Sizes sizes{args.batch, args.height, args.width};
    const auto* grad = static_cast<const T*>(grad_output);
    auto* out = static_cast<T*>(grad_input);
    LAUNCH((nll_loss2d_backward_no_reduce_kernel<T>), blocks_of(count), kThreads, stream, count, target, grad, out,
           weights, sizes, classes, ignored);
  });
}

void nll_loss2d_backward(const NllLoss2d& args, const void* grad_output, const void* total_weight, void* grad_input,
                         vcuda::Stream stream) {
  with_floating(args.dtype, [&](auto element) {
    NLL2D_TYPES_AND_POINTERS;
    const vcuda::Divisor per_sample = blocks_per_sample_of(pixels);
    const unsigned grid = static_cast<unsigned>(per_sample.number * args.batch);
    const auto* grad = static_cast<const T*>(grad_output);
    const auto* total = static_cast<const T*>(total_weight);
    auto* out = static_cast<T*>(grad_input);
    const bool mean = args.mean;
    LAUNCH((nll_loss2d_backward_kernel<T>), grid, kThreads, stream, out, grad, target, weights, total, mean, classes,
           pixels, per_sample, ignored);
  });
}

}  // namespace kernels
