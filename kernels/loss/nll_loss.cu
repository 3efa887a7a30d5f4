// The kernels behind nll_loss.h. Launch shapes are those of ATen, so that block and thread in an assert line are too:
// one thread without a batch dimension, one block of 32 for a reduced batch, one thread a sample otherwise.
#include <cmath>
#include <type_traits>

#include "kernels/arithmetic/joined.h"
#include "kernels/indexing/element.h"
#include "kernels/loss/nll_loss.h"
#include "kernels/vcuda/device_language.h"
#include "kernels/vcuda/floating.h"

#define LOSS_CU "aten/src/ATen/native/cuda/Loss.cu"

// An unsigned label needs no lower bound, and ATen's text says so.
#define ASSERT_LABEL(LINE, FUNCTION, LABEL, CLASSES)                                                                   \
  do {                                                                                                                 \
    if constexpr (std::is_unsigned_v<std::remove_const_t<decltype(LABEL)>>) {                                          \
      DEVICE_ASSERT(LOSS_CU, LINE, FUNCTION, #LABEL " < " #CLASSES, LABEL < CLASSES);                                  \
    } else {                                                                                                           \
      DEVICE_ASSERT(LOSS_CU, LINE, FUNCTION, #LABEL " >= 0 && " #LABEL " < " #CLASSES, LABEL >= 0 && LABEL < CLASSES); \
    }                                                                                                                  \
  } while (0)

namespace kernels {
namespace {

using vcuda::from_float;
using vcuda::to_float;

constexpr int kReduceThreads = 32;
constexpr int kThreads = 1024;

template <typename T, typename Label>
__global__ void nll_loss_forward_no_reduce_cuda_kernel(std::int64_t batch_size, const T* input, const Label* target,
                                                       T* output, const T* weights, std::int64_t n_classes,
                                                       std::int64_t ignore_index) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int joined = vcuda::join_row(kThreads);
  for (; first < batch_size; first += step) {
    const int count = batch_size - first < joined ? static_cast<int>(batch_size - first) : joined;
    const Label* const targets = vcuda::readable(&target[first], count);
    T* const out = vcuda::writable(&output[first], count);
    for (int i = 0; i < count; ++i) {
      const Label cur_target = vcuda::argument(targets[i]);
      if (cur_target == ignore_index) {
        vcuda::set(out[i], from_float<T>(0));
        continue;
      }
      ASSERT_LABEL(180, "nll_loss_forward_no_reduce_cuda_kernel", cur_target, n_classes);
      const Sum<T> weight = weights != nullptr ? to_float(weights[cur_target]) : Sum<T>(1);
      vcuda::set(out[i], from_float<T>(-weight * to_float(input[(first + i) * n_classes + cur_target])));
    }
  }
}

template <typename T, typename Label>
__global__ void nll_loss_forward_reduce_cuda_kernel_1d(T* output, T* total_weight, const T* input, const Label* target,
                                                       const T* weights, bool size_average, std::int64_t n_classes,
                                                       std::int64_t ignore_index) {
  DEVICE_ASSERT(LOSS_CU, 197, "nll_loss_forward_reduce_cuda_kernel_1d",
                "threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0",
                threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0);
  const Label t = *target;
  if (t == ignore_index) {
    // The mean over nothing is not a number, the sum is zero.
    *output = from_float<T>(size_average ? NAN : 0.0);
    *total_weight = from_float<T>(0);
    return;
  }
  ASSERT_LABEL(201, "nll_loss_forward_reduce_cuda_kernel_1d", t, n_classes);
  const Sum<T> weight = weights != nullptr ? to_float(weights[t]) : Sum<T>(1);
  *total_weight = from_float<T>(weight);
  if (size_average) {
    *output = from_float<T>(weight == 0 ? Sum<T>(NAN) : -to_float(input[t]));
  } else {
    *output = from_float<T>(-weight * to_float(input[t]));
  }
}

template <typename T, typename Label>
__global__ void nll_loss_forward_reduce_cuda_kernel_2d(T* output, T* total_weight, const T* input, const Label* target,
                                                       const T* weights, bool size_average, std::int64_t nframe,
                                                       std::int64_t n_classes, std::int64_t ignore_index) {
  __shared__ Sum<T> losses[kReduceThreads];
  __shared__ Sum<T> total[kReduceThreads];
  const int first = static_cast<int>(threadIdx.x), joined = vcuda::join_row(kReduceThreads);
  Sum<T> own_losses[vcuda::most_joined(kReduceThreads)] = {};
  Sum<T> own_weights[vcuda::most_joined(kReduceThreads)] = {};
  for (std::int64_t i = first; i < nframe; i += kReduceThreads) {
    const int count = nframe - i < joined ? static_cast<int>(nframe - i) : joined;
    const Label* const targets = vcuda::readable(&target[i], count);
    for (int own = 0; own < count; ++own) {
      const Label t = vcuda::argument(targets[own]);
      if (t == ignore_index) continue;
      ASSERT_LABEL(245, "nll_loss_forward_reduce_cuda_kernel_2d", t, n_classes);
      const Sum<T> weight = weights != nullptr ? to_float(weights[t]) : Sum<T>(1);
      const Sum<T> loss = to_float(input[(i + own) * n_classes + t]) * weight;
      vcuda::set(own_losses[own], vcuda::argument(own_losses[own]) - loss);
      vcuda::set(own_weights[own], vcuda::argument(own_weights[own]) + weight);
    }
  }
  Sum<T>* const out_losses = vcuda::writable(&losses[first], joined);
  Sum<T>* const out_weights = vcuda::writable(&total[first], joined);
  for (int own = 0; own < joined; ++own) {
    vcuda::set(out_losses[own], vcuda::argument(own_losses[own]));
    vcuda::set(out_weights[own], vcuda::argument(own_weights[own]));
  }
  __syncthreads();
  if (first == 0) {
    const Sum<T> loss = sum_of_threads(losses, kReduceThreads), weight_sum = sum_of_threads(total, kReduceThreads);
    *total_weight = from_float<T>(weight_sum);
    *output = from_float<T>(size_average ? loss / weight_sum : loss);
  }
}

template <typename T, typename Label>
__global__ void nll_loss_backward_no_reduce_cuda_kernel(std::int64_t batch_size, const Label* target,
                                                        const T* grad_output, T* grad_input, const T* weights,
                                                        std::int64_t n_classes, std::int64_t ignore_index) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int joined = vcuda::join_row(kThreads);
  for (; first < batch_size; first += step) {
    const int count = batch_size - first < joined ? static_cast<int>(batch_size - first) : joined;
    const Label* const targets = vcuda::readable(&target[first], count);
    for (int i = 0; i < count; ++i) {
      const Label cur_target = vcuda::argument(targets[i]);
      if (cur_target == ignore_index) continue;
      ASSERT_LABEL(429, "nll_loss_backward_no_reduce_cuda_kernel", cur_target, n_classes);
      const Sum<T> weight = weights != nullptr ? to_float(weights[cur_target]) : Sum<T>(1);
      const Sum<T> grad = to_float(grad_output[first + i]);
      grad_input[(first + i) * n_classes + cur_target] = from_float<T>(-weight * grad);
    }
  }
}

template <typename T>
__device__ Sum<T> reduced_gradient(const T* grad_output, const T* total_weight, bool size_average) {
  const Sum<T> grad = to_float(*grad_output);
  return size_average ? -(grad / to_float(*total_weight)) : -grad;
}

template <typename T, typename Label>
__global__ void nll_loss_backward_reduce_cuda_kernel_1d(T* grad_input, const T* grad_output, const T* weights,
                                                        const Label* target, const T* total_weight, bool size_average,
                                                        std::int64_t n_classes, std::int64_t ignore_index) {
  const Label t = *target;
  if (t != ignore_index) {
    ASSERT_LABEL(448, "nll_loss_backward_reduce_cuda_kernel_1d", t, n_classes);
    const Sum<T> grad = reduced_gradient(grad_output, total_weight, size_average);
    grad_input[t] = from_float<T>(weights != nullptr ? to_float(weights[t]) * grad : grad);
  }
}

template <typename T, typename Label>
__global__ void nll_loss_backward_reduce_cuda_kernel_2d(T* grad_input, const T* grad_output, const Label* target,
                                                        const T* weights, const T* total_weight, bool size_average,
                                                        std::int64_t nframe, std::int64_t n_classes,
                                                        std::int64_t ignore_index) {
  const Sum<T> grad = reduced_gradient(grad_output, total_weight, size_average);
  std::int64_t i = threadIdx.x;
  const int joined = vcuda::join_row(kReduceThreads);
  for (; i < nframe; i += kReduceThreads) {
    const int count = nframe - i < joined ? static_cast<int>(nframe - i) : joined;
    const Label* const targets = vcuda::readable(&target[i], count);
    for (int own = 0; own < count; ++own) {
      const Label t = vcuda::argument(targets[own]);
      if (t == ignore_index) continue;
      ASSERT_LABEL(477, "nll_loss_backward_reduce_cuda_kernel_2d", t, n_classes);
      const std::int64_t index = (i + own) * n_classes + t;
      DEVICE_ASSERT(LOSS_CU, 481, "nll_loss_backward_reduce_cuda_kernel_2d", "index >= 0", index >= 0);
      grad_input[index] = from_float<T>(weights != nullptr ? to_float(weights[t]) * grad : grad);
    }
  }
}

unsigned blocks_of(std::int64_t count) { return static_cast<unsigned>((count + kThreads - 1) / kThreads); }

// Calls `launch(Floating<T>{}, Element<Label>{})` for the types that `args` names.
template <typename Launch>
void with_types(const NllLoss& args, const Launch& launch) {
  with_floating(args.dtype, [&](auto element) {
    if (args.label_dtype == vcuda::DType::u8) {
      launch(element, Element<std::uint8_t>{});
    } else {
      launch(element, Element<std::int64_t>{});
    }
  });
}

// The launch itself needs plain locals: it copies what it uses.
#define NLL_TYPES_AND_POINTERS                                   \
  using T = typename decltype(element)::type;                    \
  using Label = typename decltype(label)::type;                  \
  const auto* target = static_cast<const Label*>(args.labels);   \
  const auto* weights = static_cast<const T*>(args.weights);     \
  const std::int64_t batch = args.batch, classes = args.classes; \
  const std::int64_t ignored = args.ignore_index

}  // namespace

void nll_loss_forward_no_reduce(const NllLoss& args, void* losses, vcuda::Stream stream) {
  with_types(args, [&](auto element, auto label) {
    NLL_TYPES_AND_POINTERS;
    const auto* input = static_cast<const T*>(args.input);
    auto* output = static_cast<T*>(losses);
    LAUNCH((nll_loss_forward_no_reduce_cuda_kernel<T, Label>), blocks_of(batch), kThreads, stream, batch, input, target,
           output, weights, classes, ignored);
  });
}

void nll_loss_forward_reduce_1d(const NllLoss& args, void* loss, void* total_weight, vcuda::Stream stream) {
  with_types(args, [&](auto element, auto label) {
    NLL_TYPES_AND_POINTERS;
    (void)batch;
    const auto* input = static_cast<const T*>(args.input);
    auto* output = static_cast<T*>(loss);
    auto* total = static_cast<T*>(total_weight);
    const bool mean = args.mean;
    LAUNCH((nll_loss_forward_reduce_cuda_kernel_1d<T, Label>), 1, 1, stream, output, total, input, target, weights,
           mean, classes, ignored);
  });
}

void nll_loss_forward_reduce_2d(const NllLoss& args, void* loss, void* total_weight, vcuda::Stream stream) {
  with_types(args, [&](auto element, auto label) {
    NLL_TYPES_AND_POINTERS;
    const auto* input = static_cast<const T*>(args.input);
    auto* output = static_cast<T*>(loss);
    auto* total = static_cast<T*>(total_weight);
    const bool mean = args.mean;
    LAUNCH_WITH_BARRIERS((nll_loss_forward_reduce_cuda_kernel_2d<T, Label>), 1, kReduceThreads, stream, output, total,
                         input, target, weights, mean, batch, classes, ignored);
  });
}

void nll_loss_backward_no_reduce(const NllLoss& args, const void* grad_output, void* grad_input, vcuda::Stream stream) {
  with_types(args, [&](auto element, auto label) {
    NLL_TYPES_AND_POINTERS;
    const auto* grad = static_cast<const T*>(grad_output);
    auto* out = static_cast<T*>(grad_input);
    LAUNCH((nll_loss_backward_no_reduce_cuda_kernel<T, Label>), blocks_of(batch), kThreads, stream, batch, target, grad,
           out, weights, classes, ignored);
  });
}

void nll_loss_backward_reduce_1d(const NllLoss& args, const void* grad_output, const void* total_weight,
                                 void* grad_input, vcuda::Stream stream) {
  with_types(args, [&](auto element, auto label) {
    NLL_TYPES_AND_POINTERS;
    (void)batch;
    const auto* grad = static_cast<const T*>(grad_output);
    const auto* total = static_cast<const T*>(total_weight);
    auto* out = static_cast<T*>(grad_input);
    const bool mean = args.mean;
    LAUNCH((nll_loss_backward_reduce_cuda_kernel_1d<T, Label>), 1, 1, stream, out, grad, weights, target, total, mean,
           classes, ignored);
  });
}

void nll_loss_backward_reduce_2d(const NllLoss& args, const void* grad_output, const void* total_weight,
                                 void* grad_input, vcuda::Stream stream) {
  with_types(args, [&](auto element, auto label) {
    NLL_TYPES_AND_POINTERS;
    const auto* grad = static_cast<const T*>(grad_output);
    const auto* total = static_cast<const T*>(total_weight);
    auto* out = static_cast<T*>(grad_input);
    const bool mean = args.mean;
    LAUNCH((nll_loss_backward_reduce_cuda_kernel_2d<T, Label>), 1, kReduceThreads, stream, out, grad, target, weights,
           total, mean, batch, classes, ignored);
  });
}

}  // namespace kernels
