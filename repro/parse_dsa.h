// The report of a PyTorch built with TORCH_USE_CUDA_DSA: labelled lines in place of the driver's own. The kernels
// return instead of trapping, so the CUDA error beside it may be of any kind or missing.
#pragma once

#include "repro/parse_assert.h"

namespace dsafuzz {

// Records as parse_asserts gives them; the count is the number stated per GPU, which is more than is printed.
AssertReading parse_dsa(const LogText& log);

}  // namespace dsafuzz
