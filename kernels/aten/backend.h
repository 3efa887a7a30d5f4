// What the bindings of ATen's operators (nll_loss.cpp, indexing.cpp, ...) need of the device that they are for. They
// are compiled once and linked twice: with on_vcuda.cpp into the virtual device, and, where nvcc is, with on_cuda.cpp
// into a library whose loading puts the same kernels in the place of ATen's on a GPU.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "kernels/vcuda/launch.h"

namespace vcuda::aten {

// Which of a device's tensors an operator is for.
enum class Layout : std::uint8_t { dense, sparse };
c10::DispatchKey key_of(Layout layout);

// Registers `kernel` for the tensors of `layout` and the operator `name`, such as "index_select.out". Where a device
// has kernels of its own for the functional and in-place forms of a structured operator, these become calls of `name`
// as well.
void add_kernel(torch::Library& library, Layout layout, const char* name, torch::CppFunction kernel);

// torch::Library for DSAFUZZ_OPERATORS.
class Operators {
 public:
  Operators(torch::Library& library, Layout layout) : library_(library), layout_(layout) {}
  template <typename Function>
  void impl(const char* name, Function&& kernel) {
    add_kernel(library_, layout_, name, torch::CppFunction(std::forward<Function>(kernel)));
  }

 private:
  torch::Library& library_;
  Layout layout_;
};

// Registers kernels of ATen's operators when the library is loaded: TORCH_LIBRARY_IMPL for the device that the file is
// linked for. Once a file for each LAYOUT.
#define DSAFUZZ_OPERATORS(LAYOUT, OPERATORS)                                             \
  static void register_##LAYOUT##_operators(::vcuda::aten::Operators& OPERATORS);        \
  static const torch::detail::TorchLibraryInit registered_##LAYOUT##_operators(          \
      torch::Library::IMPL,                                                              \
      [](torch::Library& library) {                                                      \
        ::vcuda::aten::Operators operators(library, ::vcuda::aten::Layout::LAYOUT);      \
        register_##LAYOUT##_operators(operators);                                        \
      },                                                                                 \
      "aten", ::vcuda::aten::key_of(::vcuda::aten::Layout::LAYOUT), __FILE__, __LINE__); \
  static void register_##LAYOUT##_operators(::vcuda::aten::Operators& OPERATORS)

// Has one of LibTorch's own functions call `kernel` where it is at work on this device.
bool is_for_cuda();
template <typename Stub, typename Kernel>
bool set_stub(Stub& stub, Kernel kernel) {
  if (is_for_cuda()) {
    stub.set_cuda_dispatch_ptr(kernel);
  } else {
    stub.set_privateuse1_dispatch_ptr(kernel);
  }
  return true;
}
#define DSAFUZZ_STUB(STUB, ...) \
  [[maybe_unused]] static const bool registered_##STUB = ::vcuda::aten::set_stub(STUB, __VA_ARGS__);

// Runs what this device does without the kernels here, for registrations that cover only some cases: on the virtual
// device the CPU's operator on copies, or PyTorch's complaint when the tensors are on different devices; on a GPU
// ATen's own kernel. Throws a pending device error.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// The current stream of the tensor's device.
Stream stream_for(const at::TensorBase& tensor);

// Throws the error that an earlier call left behind, where the device's own operators ask before they launch.
void check_pending();
// Throws the error of a launch just made, or one known by then.
void check_after_launch();

// One number from `generator`, or from `device`'s own: the same state gives the same number, and moves on.
std::uint64_t draw_seed(const std::optional<at::Generator>& generator, at::Device device);

}  // namespace vcuda::aten
