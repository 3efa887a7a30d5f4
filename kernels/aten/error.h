// Turns the runtime's errors into the exceptions that PyTorch throws for CUDA's.
#pragma once

#include "kernels/vcuda/runtime.h"

namespace vcuda::aten {

// Returns for Error::none; else throws c10::AcceleratorError with the text that PyTorch 2.11 gives such an error.
void check(Error error);

}  // namespace vcuda::aten
