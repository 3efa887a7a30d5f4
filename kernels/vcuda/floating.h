// Kernels that exist for each floating type: which type a DType names, and the type that CUDA kernels sum it in. For
// device code: it includes the device language.
#pragma once

#include "kernels/vcuda/device_language.h"
#include "kernels/vcuda/dtype.h"

namespace kernels {

template <typename T>
struct Floating {
  using type = T;
  using sum = float;
};
template <>
struct Floating<double> {
  using type = double;
  using sum = double;
};

// Sums of 16-bit floats are kept in float.
template <typename T>
using Sum = typename Floating<T>::sum;

// Calls `launch(Floating<T>{})` for f16, bf16, f32 or f64; other types launch nothing.
template <typename Launch>
void with_floating(vcuda::DType dtype, const Launch& launch) {
  if (dtype == vcuda::DType::f16) launch(Floating<vcuda::Half>{});
  if (dtype == vcuda::DType::bf16) launch(Floating<vcuda::BFloat16>{});
  if (dtype == vcuda::DType::f32) launch(Floating<float>{});
  if (dtype == vcuda::DType::f64) launch(Floating<double>{});
}

}  // namespace kernels
