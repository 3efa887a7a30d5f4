// The kernels behind multi_margin_loss.h: one block of 128 threads a sample, as ATen launches them.
#include "kernels/loss/multi_margin_loss.h"
#include "kernels/vcuda/device_language.h"
#include "kernels/vcuda/floating.h"

namespace kernels {
namespace {

using vcuda::from_float;
using vcuda::to_float;

constexpr int kThreads = 128;

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
  Sum<T> sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < dim; i += kThreads) {
    const Sum<T> z = margin - at_target + to_float(input_k[i]);
    if (i == target_k || !(z > 0)) continue;
    const Sum<T> weight = weights != nullptr ? to_float(weights[target_k]) : Sum<T>(1);
    sum += (squared ? z * z : z) * weight;
  }
  buffer[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  sum = 0;
  for (int i = 0; i < kThreads; ++i) sum += buffer[i];
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
  Sum<T> sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < dim; i += kThreads) {
    if (i == target_k) continue;
    const Sum<T> z = margin - at_target + to_float(input_k[i]);
    Sum<T> h = 0;
    if (z > 0) {
      const Sum<T> weight = weights != nullptr ? to_float(weights[target_k]) : Sum<T>(1);
      h = (squared ? 2 * g * z : g) * weight;
    }
    sum -= h;
    gradInput_k[i] = from_float<T>(h * grad);
  }
  buffer[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  sum = 0;
  for (int i = 0; i < kThreads; ++i) sum += buffer[i];
  gradInput_k[target_k] = from_float<T>(sum * grad);
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
