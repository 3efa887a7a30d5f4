// A case's tensors on a device: contents, dtype under the precision mode, layout.
#pragma once

#include <ATen/ATen.h>

#include "repro/case.h"

namespace dsafuzz {

// The tensor `spec` of the valid case `c`, on `device` (plus spec.device). Throws what LibTorch throws.
at::Tensor make_tensor(const Case& c, const TensorSpec& spec, c10::Device device);

// half and bfloat16 modes store float32 tensors in that dtype; other dtypes were chosen on purpose and stay.
Dtype stored_dtype(Dtype declared, Precision precision);

}  // namespace dsafuzz
