// backend.h for the virtual device. What concerns its host side alone is in the other files here.
#include <ATen/CPUGeneratorImpl.h>

#include <mutex>

#include "kernels/aten/backend.h"
#include "kernels/aten/error.h"

namespace vcuda::aten {

c10::DispatchKey key_of(Layout layout) {
  return layout == Layout::dense ? c10::DispatchKey::PrivateUse1 : c10::DispatchKey::SparsePrivateUse1;
}

// LibTorch gives a device like this one the functional and in-place forms of structured operators by itself.
void add_kernel(torch::Library& library, Layout, const char* name, torch::CppFunction kernel) {
  library.impl(name, std::move(kernel));
}

bool is_for_cuda() { return false; }

Stream stream_for(const at::TensorBase& tensor) { return current_stream(tensor.get_device()); }

void check_pending() { check(peek_error()); }
void check_after_launch() { check(check_launch()); }

// The virtual device draws from the CPU's generator.
std::uint64_t draw_seed(const std::optional<at::Generator>& generator, at::Device) {
  auto* source = at::get_generator_or_default<at::CPUGeneratorImpl>(generator, at::detail::getDefaultCPUGenerator());
  const std::lock_guard held(source->mutex_);
  return source->random64();
}

}  // namespace vcuda::aten
