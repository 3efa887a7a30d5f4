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

// A sample's classes against its target.
template <typename T>
struct Margin {
  Sum<T> offset, weight;  // margin less the target's value
  int target;
  bool squared;

  UNCHECKED void add_losses(int first, int count, const T* values, Sum<T>* sums) const {
    const Margin of = *this;
    VECTORIZED for (int own = 0; own < count; ++own) {
      const Sum<T> z = of.offset + to_float(values[own]);
      const bool counts = first + own != of.target && z > 0;
      sums[own] += counts ? (of.squared ? z * z : z) * of.weight : Sum<T>(0);
    }
  }
  // `g`: one part of the mean. `grad`: of the output.
  UNCHECKED void add_gradients(int first, int count, const T* values, Sum<T>* sums, T* gradients, Sum<T> g,
                               Sum<T> grad) const {
    const Margin of = *this;
    VECTORIZED for (int own = 0; own < count; ++own) {
      const Sum<T> z = of.offset + to_float(values[own]);
      const bool counts = first + own != of.target && z > 0;
      const Sum<T> h = counts ? (of.squared ? 2 * g * z : g) * of.weight : Sum<T>(0);
      gradients[own] = from_float<T>(h * grad);
      sums[own] -= h;
    }
  }
};
template <typename T>
__device__ Margin<T> margin_of(Sum<T> margin, const T* input, int target, const T* weights, bool squared) {
  const Sum<T> at_target = to_float(input[target]);
  return {margin - at_target, weights != nullptr ? to_float(weights[target]) : Sum<T>(1), target, squared};
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
  const Margin<T> of = margin_of(margin, input_k, target_k, weights, squared);
  sum_up<kThreads>(input_k, dim, buffer, [&](int first, int count, const T* values, Sum<T>* sums) {
    of.add_losses(first, count, values, sums);
  });
  __syncthreads();
  if (threadIdx.x != 0) return;
  const Sum<T> sum = sum_of_threads(buffer, threads_with(dim, kThreads));
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
  const Margin<T> of = margin_of(margin, input_k, target_k, weights, squared);
  const Sum<T> g = Sum<T>(1) / static_cast<Sum<T>>(mean ? batch * dim : dim);
  const Sum<T> grad = to_float(gradOutput[reduced ? 0 : k]);
  // What the target's own place gets here is replaced below.
  sum_up<kThreads>(input_k, dim, buffer, [&](int first, int count, const T* values, Sum<T>* sums) {
    of.add_gradients(first, count, values, sums, vcuda::writable(&gradInput_k[first], count), g, grad);
  });
  __syncthreads();
  if (threadIdx.x != 0) return;
  gradInput_k[target_k] = from_float<T>(sum_of_threads(buffer, threads_with(dim, kThreads)) * grad);
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
