// The floating types that loss kernels are instantiated for. For device code.
#pragma once

#include "kernels/indexing/element.h"
#include "kernels/loss/accumulated.h"
#include "kernels/vcuda/device_language.h"
#include "kernels/vcuda/dtype.h"

namespace kernels {

// Calls `launch(Element<...>)` for a floating `dtype`; the others launch nothing.
template <typename Launch>
void with_floating(vcuda::DType dtype, const Launch& launch) {
  if (dtype == vcuda::DType::f16) launch(Element<vcuda::Half>{});
  if (dtype == vcuda::DType::bf16) launch(Element<vcuda::BFloat16>{});
  if (dtype == vcuda::DType::f32) launch(Element<float>{});
  if (dtype == vcuda::DType::f64) launch(Element<double>{});
}

}  // namespace kernels
