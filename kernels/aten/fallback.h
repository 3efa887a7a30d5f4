// Runs an operator on the CPU, for registrations whose kernel covers only some cases.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace vcuda::aten {

// Arguments on the stack are copied to the host, results back to the device of the first device tensor. Throws the
// pending device error, or PyTorch's complaint when the tensors are on different devices.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

}  // namespace vcuda::aten
