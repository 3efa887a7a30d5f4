// Element-wise operators over types that CUDA's kernels cannot convert (bits8, uint4, ...).
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace vcuda::aten {

// True when CUDA would convert one of these types inside an element-wise kernel: then that kernel was launched (it
// fails its assert) and the results stand on the stack. False, with the stack untouched, for everything else. The
// operator's own complaints about shapes and types come first. `op` must be tagged as pointwise.
bool ran_unknown_cast(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace vcuda::aten
