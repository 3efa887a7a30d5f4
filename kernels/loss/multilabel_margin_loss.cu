// The kernels behind multilabel_margin_loss.h: one block of 128 threads a sample, as ATen launches them.
#include "kernels/arithmetic/joined.h"
#include "kernels/loss/multilabel_margin_loss.h"
#include "kernels/vcuda/device_language.h"
#include "kernels/vcuda/floating.h"

namespace kernels {
namespace {

using vcuda::from_float;
using vcuda::to_float;

constexpr int kThreads = 128;

// What each thread of the block that has a class has summed up.
template <typename A>
struct Sums {
  A own[vcuda::most_joined(kThreads)];
  __device__ void clear(const Joined& joined) {
    for (int i = 0; i < joined.threads; ++i) vcuda::set(own[i], A(0));
  }
  // All of them; only thread 0 learns it. All threads must call it.
  __device__ A of_block(const Joined& joined, int dim, A* buffer) const {
    A* const out = vcuda::writable(&buffer[joined.first], joined.threads);
    for (int i = 0; i < joined.threads; ++i) vcuda::set(out[i], vcuda::argument(own[i]));
    __syncthreads();
    const A sum = joined.first == 0 ? sum_of_threads(buffer, threads_with(dim, kThreads)) : A(0);
    __syncthreads();
    return sum;
  }
};

// Classes in a row against one label: `offset` is 1 less the label's value.
template <typename T>
UNCHECKED void add_losses(const T* values, const T* is_target, Sum<T> offset, int count, Sum<T>* sums) {
  VECTORIZED for (int own = 0; own < count; ++own) {
    const Sum<T> z = offset + to_float(values[own]), targeted = to_float(is_target[own]);
    const bool counts = targeted == 0 && z > 0;
    sums[own] += counts ? z : Sum<T>(0);
  }
}
template <typename T>
UNCHECKED void add_gradients(const T* values, const T* is_target, Sum<T> offset, Sum<T> g, int count, T* gradients,
                             Sum<T>* sums) {
  VECTORIZED for (int own = 0; own < count; ++own) {
    const Sum<T> z = offset + to_float(values[own]), targeted = to_float(is_target[own]);
    const Sum<T> more = targeted == 0 && z > 0 ? g : Sum<T>(0);
    sums[own] -= more;
    gradients[own] = from_float<T>(to_float(gradients[own]) + more);
  }
}

template <typename T>
__global__ void multilabel_margin_loss_forward_kernel(T* output, const T* input, const std::int64_t* target,
                                                      T* is_target, std::int64_t nframe, int dim, bool size_average) {
  __shared__ Sum<T> buffer[kThreads];
  const std::int64_t k = blockIdx.x;
  const T* input_k = input + k * dim;
  const std::int64_t* target_k = target + k * dim;
  T* is_target_k = is_target + k * dim;
  const Joined joined = join_for(dim, kThreads);
  for_each_joined(joined, kThreads, dim, [&](int d, int) { is_target_k[d] = from_float<T>(0); });
  __syncthreads();
  if (joined.first == 0) {
    for (int dt = 0; dt < dim; ++dt) {
      const int label = static_cast<int>(target_k[dt]);
      if (label < 0) break;
      is_target_k[label] = from_float<T>(1);
    }
  }
  __syncthreads();
  Sums<Sum<T>> sums;
  sums.clear(joined);
  for (int dt = 0; dt < dim; ++dt) {
    const int label = static_cast<int>(target_k[dt]);
    if (label < 0) break;
    const Sum<T> at_label = to_float(input_k[label]);
    for_each_joined_run(joined, kThreads, dim, [&](int first, int count) {
      add_losses(vcuda::readable(&input_k[first], count), vcuda::readable(&is_target_k[first], count), 1 - at_label,
                 count, sums.own);
    });
  }
  const Sum<T> sum = sums.of_block(joined, dim, buffer);
  if (joined.first != 0) return;
  const Sum<T> loss = sum / static_cast<Sum<T>>(dim);
  output[k] = from_float<T>(size_average ? loss / static_cast<Sum<T>>(nframe) : loss);
}

template <typename T>
__global__ void multilabel_margin_loss_backward_kernel(T* grad_input, const T* grad_output, bool reduced,
                                                       const T* input, const std::int64_t* target, const T* is_target,
                                                       std::int64_t nframe, int dim, bool size_average) {
  __shared__ Sum<T> buffer[kThreads];
  const std::int64_t k = blockIdx.x;
  const T* input_k = input + k * dim;
  const std::int64_t* target_k = target + k * dim;
  const T* is_target_k = is_target + k * dim;
  T* grad_input_k = grad_input + k * dim;
  const Sum<T> g = Sum<T>(1) / static_cast<Sum<T>>(size_average ? nframe * dim : dim);
  const Joined joined = join_for(dim, kThreads);
  for_each_joined(joined, kThreads, dim, [&](int d, int) { grad_input_k[d] = from_float<T>(0); });
  __syncthreads();
  Sums<Sum<T>> sums;
  for (int dt = 0; dt < dim; ++dt) {
    const int label = static_cast<int>(target_k[dt]);
    if (label < 0) break;
    const Sum<T> at_label = to_float(input_k[label]);
    sums.clear(joined);
    for_each_joined_run(joined, kThreads, dim, [&](int first, int count) {
      add_gradients(vcuda::readable(&input_k[first], count), vcuda::readable(&is_target_k[first], count), 1 - at_label,
                    g, count, vcuda::writable(&grad_input_k[first], count), sums.own);
    });
    const Sum<T> sum = sums.of_block(joined, dim, buffer);
    if (joined.first == 0) grad_input_k[label] = from_float<T>(to_float(grad_input_k[label]) + sum);
  }
  __syncthreads();
  const Sum<T> grad = to_float(grad_output[reduced ? 0 : k]);
  for_each_joined(joined, kThreads, dim,
                  [&](int d, int) { grad_input_k[d] = from_float<T>(to_float(grad_input_k[d]) * grad); });
}

// The launch itself needs plain locals: it copies what it uses.
#define MULTILABEL_MARGIN_LOCALS                                      \
  using T = typename decltype(element)::type;                         \
  const auto* input = static_cast<const T*>(args.input);              \
  const auto* target = static_cast<const std::int64_t*>(args.labels); \
  auto* is_target = static_cast<T*>(args.is_target);                  \
  const std::int64_t batch = args.batch;                              \
  const int dim = static_cast<int>(args.classes);                     \
  const bool mean = args.mean

}  // namespace

void multilabel_margin_loss_forward(const MultilabelMarginLoss& args, void* losses, vcuda::Stream stream) {
  with_floating(args.dtype, [&](auto element) {
    MULTILABEL_MARGIN_LOCALS;
    auto* output = static_cast<T*>(losses);
    LAUNCH_WITH_BARRIERS((multilabel_margin_loss_forward_kernel<T>), static_cast<unsigned>(batch), kThreads, stream,
                         output, input, target, is_target, batch, dim, mean);
  });
}

void multilabel_margin_loss_backward(const MultilabelMarginLoss& args, const void* grad_output, bool is_reduced,
                                     void* grad_input, vcuda::Stream stream) {
  with_floating(args.dtype, [&](auto element) {
    MULTILABEL_MARGIN_LOCALS;
    const auto* grad = static_cast<const T*>(grad_output);
    auto* out = static_cast<T*>(grad_input);
    const bool reduced = is_reduced;
    LAUNCH_WITH_BARRIERS((multilabel_margin_loss_backward_kernel<T>), static_cast<unsigned>(batch), kThreads, stream,
                         out, grad, reduced, input, target, is_target, batch, dim, mean);
  });
}

}  // namespace kernels
