// The kernels behind multi_margin_loss.h: one block of 128 threads a sample, as ATen launches them.
#include "kernels/arithmetic/joined.h"
#include "kernels/loss/multi_margin_loss.h"
#include "kernels/vcuda/device_language.h"
#include "kernels/vcuda/floating.h"

namespace kernels {
namespace {

using vcuda::from_float;
using vcuda::to_float;

constexpr int kThreads = 128;

// Puts into `buffer` what each thread of the block sums up of `body(class, its value)`; those that have a class do.
template <typename T, typename Body>
__device__ void for_each_of_class(const T* input, int dim, Sum<T>* buffer, const Body& body) {
  const int first = static_cast<int>(threadIdx.x);
  if (first >= dim) return;
  const int joined = vcuda::join_row(kThreads), threads = dim - first < joined ? dim - first : joined;
  Sum<T>* const sums = vcuda::writable(&buffer[first], threads);
  for (int own = 0; own < threads; ++own) vcuda::set(sums[own], Sum<T>(0));
  for (int i = first; i < dim; i += kThreads) {
    const int count = dim - i < threads ? dim - i : threads;
    const T* const values = vcuda::readable(&input[i], count);
    for (int own = 0; own < count; ++own) {
      const Sum<T> more = body(i + own, to_float(vcuda::argument(values[own])));
      vcuda::set(sums[own], vcuda::argument(sums[own]) + more);
    }
  }
}

// Of what it has put there.
template <typename A>
__device__ A sum_of(const A* buffer, int dim) {
  return sum_of_threads(buffer, dim < kThreads ? dim : kThreads);
}

template <typename T>
__global__ void MultiMarginLoss_forward_kernel(T* output, const T* input, const std::int64_t* target, const T* weights,
                                               std::int64_t batch, int dim, bool squared, bool mean, Sum<T> margin) {
  __shared__ Sum<T> buffer[kThreads];
  const std::int64_t k = blockIdx.x;
  const T* input_k = input + k * dim;
  const int target_k = static_cast<int>(target[k]);
  DEVICE_ASSERT("aten/src/ATen/native/cuda/MultiMarginLoss.cu", 33, "MultiMarginLoss_forward_kernel",
                "target_k >= 0 && target_k < dim && \"target index is out of bounds\"",
                target_k >= 0 && target_k < dim);
  const Sum<T> at_target = to_float(input_k[target_k]);
  for_each_of_class(input_k, dim, buffer, [&](int i, Sum<T> value) {
    const Sum<T> z = margin - at_target + value;
    if (i == target_k || !(z > 0)) return Sum<T>(0);
    const Sum<T> weight = weights != nullptr ? to_float(weights[target_k]) : Sum<T>(1);
    return (squared ? z * z : z) * weight;
  });
  __syncthreads();
  if (threadIdx.x != 0) return;
  const Sum<T> sum = sum_of(buffer, dim);
  const Sum<T> divisor = static_cast<Sum<T>>(mean ? batch * dim : dim);
  output[k] = from_float<T>(sum / divisor);
}

template <typename T>
__global__ void MultiMarginLoss_backward_kernel(T* gradInput, const T* gradOutput, bool reduced, const T* input,
                                                const std::int64_t* target, const T* weights, std::int64_t batch,
                                                int dim, bool squared, bool mean, Sum<T> margin) {
  __shared__ Sum<T> buffer[kThreads];
  const std::int64_t k = blockIdx.x;
  const T* input_k = input + k * dim;
  T* gradInput_k = gradInput + k * dim;
  const int target_k = static_cast<int>(target[k]);
  const Sum<T> at_target = to_float(input_k[target_k]);
  const Sum<T> g = Sum<T>(1) / static_cast<Sum<T>>(mean ? batch * dim : dim);
  const Sum<T> grad = to_float(gradOutput[reduced ? 0 : k]);
  for_each_of_class(input_k, dim, buffer, [&](int i, Sum<T> value) {
    if (i == target_k) return Sum<T>(0);
    const Sum<T> z = margin - at_target + value;
    Sum<T> h = 0;
    if (z > 0) {
      const Sum<T> weight = weights != nullptr ? to_float(weights[target_k]) : Sum<T>(1);
      h = (squared ? 2 * g * z : g) * weight;
    }
    gradInput_k[i] = from_float<T>(h * grad);
    return -h;
  });
  __syncthreads();
  if (threadIdx.x != 0) return;
  gradInput_k[target_k] = from_float<T>(sum_of(buffer, dim) * grad);
}

// The launch itself needs plain locals: it copies what it uses.
#define MULTI_MARGIN_LOCALS                                           \
  using T = typename decltype(element)::type;                         \
  const auto* input = static_cast<const T*>(args.input);              \
  const auto* target = static_cast<const std::int64_t*>(args.labels); \
  const auto* weights = static_cast<const T*>(args.weights);          \
  const std::int64_t batch = args.batch;                              \
  const int dim = static_cast<int>(args.classes);                     \
  const bool squared = args.squared, mean = args.mean;                \
  const Sum<T> margin = static_cast<Sum<T>>(args.margin)

}  // namespace

void multi_margin_loss_forward(const MultiMarginLoss& args, void* losses, vcuda::Stream stream) {
  with_floating(args.dtype, [&](auto element) {
    MULTI_MARGIN_LOCALS;
    auto* output = static_cast<T*>(losses);
    LAUNCH_WITH_BARRIERS((MultiMarginLoss_forward_kernel<T>), static_cast<unsigned>(batch), kThreads, stream, output,
                         input, target, weights, batch, dim, squared, mean, margin);
  });
}

void multi_margin_loss_backward(const MultiMarginLoss& args, const void* grad_output, bool is_reduced, void* grad_input,
                                vcuda::Stream stream) {
  with_floating(args.dtype, [&](auto element) {
    MULTI_MARGIN_LOCALS;
    const auto* grad = static_cast<const T*>(grad_output);
    auto* out = static_cast<T*>(grad_input);
    const bool reduced = is_reduced;
    LAUNCH_WITH_BARRIERS((MultiMarginLoss_backward_kernel<T>), static_cast<unsigned>(batch), kThreads, stream, out,
                         grad, reduced, input, target, weights, batch, dim, squared, mean, margin);
  });
}

}  // namespace kernels
