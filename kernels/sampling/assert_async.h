// A check of one number that the host does not wait for: the kernels of ATen's TensorCompare.cu. Zero fails an assert
// that prints the caller's message in the condition's place.
//
// Asynchronous: failures surface as runtime.h says.
#pragma once

#include "kernels/vcuda/dtype.h"

namespace kernels {

// By value: a kernel's arguments outlive the host's text.
struct AssertMessage {
  static constexpr int kCapacity = 256;
  char text[kCapacity] = {};  // NUL-terminated
};

// `value` is one element of `dtype`, or of the complex type whose parts are of it (f32 or f64 then).
void assert_async(vcuda::DType dtype, bool complex, const void* value, const AssertMessage& message,
                  vcuda::Stream stream);

}  // namespace kernels
