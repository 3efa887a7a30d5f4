// The kernels behind assert_async.h: one thread. The complex ones are overloads of their own in ATen, with lines of
// their own.
#include "kernels/sampling/assert_async.h"
#include "kernels/vcuda/device_language.h"

#define TENSOR_COMPARE_CU "aten/src/ATen/native/cuda/TensorCompare.cu"

namespace kernels {
namespace {

__device__ bool is_set(std::int64_t value) { return value != 0; }
__device__ bool is_set(double value) { return value != 0; }
__device__ bool is_set(vcuda::Half value) { return vcuda::to_float(value) != 0; }
__device__ bool is_set(vcuda::BFloat16 value) { return vcuda::to_float(value) != 0; }

template <typename T>
struct Wide {
  using type = std::int64_t;
};
template <>
struct Wide<float> {
  using type = double;
};
template <>
struct Wide<double> {
  using type = double;
};
template <>
struct Wide<vcuda::Half> {
  using type = vcuda::Half;
};
template <>
struct Wide<vcuda::BFloat16> {
  using type = vcuda::BFloat16;
};

template <typename T>
__global__ void _assert_async_cuda_kernel(const T* input, KERNEL_STRUCT(AssertMessage) msg) {
  const bool holds = is_set(static_cast<typename Wide<T>::type>(input[0]));
  DEVICE_ASSERT_MESSAGE(TENSOR_COMPARE_CU, 109, "_assert_async_cuda_kernel", msg.text, holds);
}

__global__ void _assert_async_cuda_kernel_complex_float(const float* input, KERNEL_STRUCT(AssertMessage) msg) {
  const bool holds = input[0] != 0 || input[1] != 0;
  DEVICE_ASSERT_MESSAGE(TENSOR_COMPARE_CU, 113, "_assert_async_cuda_kernel", msg.text, holds);
}

__global__ void _assert_async_cuda_kernel_complex_double(const double* input, KERNEL_STRUCT(AssertMessage) msg) {
  const bool holds = input[0] != 0 || input[1] != 0;
  DEVICE_ASSERT_MESSAGE(TENSOR_COMPARE_CU, 116, "_assert_async_cuda_kernel", msg.text, holds);
}

template <typename T>
void launch_assert(const void* value, const AssertMessage& message, vcuda::Stream stream) {
  const auto* input = static_cast<const T*>(value);
  const AssertMessage msg = message;
  LAUNCH((_assert_async_cuda_kernel<T>), 1, 1, stream, input, msg);
}

void launch_complex(vcuda::DType dtype, const void* value, const AssertMessage& message, vcuda::Stream stream) {
  const AssertMessage msg = message;
  if (dtype == vcuda::DType::f32) {
    const auto* input = static_cast<const float*>(value);
    LAUNCH(_assert_async_cuda_kernel_complex_float, 1, 1, stream, input, msg);
  } else {
    const auto* input = static_cast<const double*>(value);
    LAUNCH(_assert_async_cuda_kernel_complex_double, 1, 1, stream, input, msg);
  }
}

}  // namespace

void assert_async(vcuda::DType dtype, bool complex, const void* value, const AssertMessage& message,
                  vcuda::Stream stream) {
  if (complex) return launch_complex(dtype, value, message, stream);
  switch (dtype) {
    case vcuda::DType::f16: return launch_assert<vcuda::Half>(value, message, stream);
    case vcuda::DType::bf16: return launch_assert<vcuda::BFloat16>(value, message, stream);
    case vcuda::DType::f32: return launch_assert<float>(value, message, stream);
    case vcuda::DType::f64: return launch_assert<double>(value, message, stream);
    case vcuda::DType::i8: return launch_assert<std::int8_t>(value, message, stream);
    case vcuda::DType::i16: return launch_assert<std::int16_t>(value, message, stream);
    case vcuda::DType::i32: return launch_assert<std::int32_t>(value, message, stream);
    case vcuda::DType::i64: return launch_assert<std::int64_t>(value, message, stream);
    case vcuda::DType::u8:
    case vcuda::DType::boolean: return launch_assert<std::uint8_t>(value, message, stream);
  }
}

}  // namespace kernels
