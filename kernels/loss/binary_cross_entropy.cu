// The kernels behind binary_cross_entropy.h: 128 threads a block, 4 elements a thread. Contiguous operands go through a
// vectorized kernel, where a thread of a full block takes four neighbours; elsewhere its elements lie a block apart.
#include <cmath>

#include "kernels/indexing/offsets.h"
#include "kernels/loss/binary_cross_entropy.h"
#include "kernels/vcuda/device_language.h"
#include "kernels/vcuda/floating.h"

#define LOSS_CU "aten/src/ATen/native/cuda/Loss.cu"

namespace kernels {
namespace {

using vcuda::from_float;
using vcuda::to_float;

constexpr int kThreads = 128;
constexpr int kPerThread = 4;
constexpr int kPerBlock = kThreads * kPerThread;

// Every intermediate value is one of T.
template <typename T>
__device__ Sum<T> rounded(double value) {
  return to_float(from_float<T>(value));
}

template <typename T>
__device__ T loss_of(T input, T target) {
  const Sum<T> zero = 0, one = 1, least = -100;
  const Sum<T> input_val = to_float(input), target_val = to_float(target);
  DEVICE_ASSERT(LOSS_CU, 90, "operator()", "input_val >= zero && input_val <= one",
                input_val >= zero && input_val <= one);
  DEVICE_ASSERT(LOSS_CU, 91, "operator()", "target_val >= zero && target_val <= one",
                target_val >= zero && target_val <= one);
  Sum<T> log_input = rounded<T>(log(input_val));
  Sum<T> log_rest = rounded<T>(log1p(-input_val));
  if (log_input < least) log_input = least;
  if (log_rest < least) log_rest = least;
  return from_float<T>(rounded<T>(rounded<T>(target_val - one) * log_rest) - rounded<T>(target_val * log_input));
}

template <typename T>
__device__ T gradient_of(T grad, T input, T target) {
  const Sum<T> epsilon = rounded<T>(1e-12);
  const Sum<T> x = to_float(input);
  const Sum<T> variance = rounded<T>(rounded<T>(1 - x) * x);
  const Sum<T> divisor = variance < epsilon ? epsilon : variance;
  return from_float<T>(rounded<T>(to_float(grad) * rounded<T>(x - to_float(target))) / divisor);
}

template <typename T, bool kBackward>
__device__ void compute_element(const BinaryCrossEntropy& args, std::int64_t i) {
  constexpr int kInput = kBackward ? 2 : 1;
  const Offsets<4> at = offsets_of(args.walk, i);
  const T input = *reinterpret_cast<const T*>(static_cast<const char*>(args.input) + at.bytes[kInput]);
  const T target = *reinterpret_cast<const T*>(static_cast<const char*>(args.target) + at.bytes[kInput + 1]);
  T& out = *reinterpret_cast<T*>(static_cast<char*>(args.out) + at.bytes[0]);
  if constexpr (kBackward) {
    out = gradient_of<T>(*reinterpret_cast<const T*>(static_cast<const char*>(args.grad_output) + at.bytes[1]), input,
                         target);
  } else {
    out = loss_of<T>(input, target);
  }
}

// All elements of this thread: next to each other, or a block's width apart.
template <typename T, bool kBackward>
__device__ void compute_block(const BinaryCrossEntropy& args, bool neighbours) {
  const std::int64_t block = static_cast<std::int64_t>(kPerBlock) * blockIdx.x;
  std::int64_t i = block + (neighbours ? threadIdx.x * kPerThread : threadIdx.x);
  for (int n = 0; n < kPerThread && i < args.count; ++n, i += neighbours ? 1 : kThreads) {
    compute_element<T, kBackward>(args, i);
  }
}

template <typename T, bool kBackward>
__global__ void vectorized_elementwise_kernel(KERNEL_STRUCT(BinaryCrossEntropy) args) {
  const std::int64_t remaining = args.count - static_cast<std::int64_t>(kPerBlock) * blockIdx.x;
  compute_block<T, kBackward>(args, remaining >= kPerBlock);
}

template <typename T, bool kBackward>
__global__ void elementwise_kernel(KERNEL_STRUCT(BinaryCrossEntropy) args) {
  compute_block<T, kBackward>(args, false);
}

template <bool kBackward>
void launch_elements(const BinaryCrossEntropy& arguments, vcuda::Stream stream) {
  const unsigned grid = static_cast<unsigned>((arguments.count + kPerBlock - 1) / kPerBlock);
  with_floating(arguments.dtype, [&](auto element) {
    using T = typename decltype(element)::type;
    const BinaryCrossEntropy args = arguments;
    if (args.contiguous) {
      LAUNCH((vectorized_elementwise_kernel<T, kBackward>), grid, kThreads, stream, args);
    } else {
      LAUNCH((elementwise_kernel<T, kBackward>), grid, kThreads, stream, args);
    }
  });
}

}  // namespace

void binary_cross_entropy_forward(const BinaryCrossEntropy& args, vcuda::Stream stream) {
  launch_elements<false>(args, stream);
}
void binary_cross_entropy_backward(const BinaryCrossEntropy& args, vcuda::Stream stream) {
  launch_elements<true>(args, stream);
}

}  // namespace kernels
