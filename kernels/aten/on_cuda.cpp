// backend.h for a GPU. Loading the library puts the kernels of this project, compiled by nvcc, in the place of ATen's
// for the operators of the bindings; ATen's stay at hand for what these cover only in part. It depends on LibTorch's
// CUDA library, which is therefore loaded and has registered its kernels by then.
#include <ATen/Context.h>
#include <ATen/core/TensorBase.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/aten/backend.h"

namespace vcuda::aten {
namespace {

constexpr auto kForms = c10::DispatchKey::CompositeExplicitAutogradNonFunctional;

struct LessName {
  bool operator()(const c10::OperatorName& a, const c10::OperatorName& b) const {
    return std::tie(a.name, a.overload_name) < std::tie(b.name, b.overload_name);
  }
};
using Kernels = std::map<c10::OperatorName, c10::SafeKernelFunction, LessName>;

// ATen's kernels that were replaced, and LibTorch's own for forms of structured operators, which call the `out` form.
// Filled while the library is loaded, and constant from then on.
Kernels& replaced() {
  static Kernels kernels;
  return kernels;
}
Kernels& forms() {
  static Kernels kernels;
  return kernels;
}

void call_form(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  forms().at(op.operator_name()).callBoxed(op, keys, stack);
}

// To replace a kernel is what is wanted here: LibTorch's warning of it says nothing new.
class Silence final : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

// Whether `form` takes what `out` does besides its results.
bool takes_the_same(const c10::FunctionSchema& form, const c10::FunctionSchema& out) {
  std::vector<const c10::Argument*> wanted;
  for (const c10::Argument& argument : out.arguments()) {
    if (!argument.is_out()) wanted.push_back(&argument);
  }
  const auto same = [](const c10::Argument& a, const c10::Argument* b) {
    return a.name() == b->name() && *a.type() == *b->type();
  };
  return wanted.size() < out.arguments().size() && std::ranges::equal(form.arguments(), wanted, same);
}

// The functional and the in-place form of a structured operator's `out` form.
std::vector<c10::OperatorHandle> forms_of(const c10::OperatorHandle& out) {
  auto& dispatcher = c10::Dispatcher::singleton();
  static const std::vector<c10::OperatorName> all = dispatcher.getAllOpNames();
  const std::string& name = out.operator_name().name;
  std::vector<c10::OperatorHandle> found;
  for (const c10::OperatorName& each : all) {
    if (each.name != name && each.name != name + "_") continue;
    const auto form = dispatcher.findSchema(each);
    if (form && form->hasKernelForDispatchKey(kForms) && takes_the_same(form->schema(), out.schema())) {
      found.push_back(*form);
    }
  }
  return found;
}

}  // namespace

c10::DispatchKey key_of(Layout layout) {
  return layout == Layout::dense ? c10::DispatchKey::CUDA : c10::DispatchKey::SparseCUDA;
}

// ATen has CUDA kernels for each form of a structured operator, which do not call its `out` form. A device that ATen
// does not know gets forms that do; these are taken.
void add_kernel(torch::Library& library, Layout layout, const char* name, torch::CppFunction kernel) {
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard guard(&silence);
  const c10::DispatchKey key = key_of(layout);
  const auto op = c10::Dispatcher::singleton().findSchema(torch::jit::parseName(std::string("aten::") + name));
  TORCH_INTERNAL_ASSERT(op.has_value(), "no operator aten::", name);
  if (op->hasComputedKernelForDispatchKey(key)) {
    replaced().insert_or_assign(op->operator_name(), op->getComputedKernelForDispatchKey(key));
  }
  library.impl(name, std::move(kernel));
  for (const c10::OperatorHandle& form : forms_of(*op)) {
    if (replaced().contains(form.operator_name())) continue;  // it has a binding of its own
    forms().insert_or_assign(form.operator_name(), form.getComputedKernelForDispatchKey(c10::DispatchKey::PrivateUse1));
    library.impl(c10::toString(form.operator_name()).c_str(), torch::CppFunction::makeFromBoxedFunction<&call_form>());
  }
}

bool is_for_cuda() { return true; }

void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  replaced().at(op.operator_name()).callBoxed(op, c10::DispatchKeySet(c10::DispatchKey::CUDA), stack);
}

Stream stream_for(const at::TensorBase& tensor) {
  return reinterpret_cast<Stream>(c10::cuda::getCurrentCUDAStream(tensor.get_device()).stream());
}

// ATen's CUDA operators do not ask before they launch either.
void check_pending() {}
void check_after_launch() { C10_CUDA_CHECK(cudaGetLastError()); }

// The state is a seed and an offset into its sequence, which moves on in steps of four.
std::uint64_t draw_seed(const std::optional<at::Generator>& generator, at::Device device) {
  at::Generator source = generator && generator->defined() ? *generator : at::globalContext().defaultGenerator(device);
  TORCH_CHECK(source.device().is_cuda(), "Expected a 'cuda' device type for generator but found '", source.device(),
              "'");
  const std::lock_guard held(source.mutex());
  const std::uint64_t offset = source.get_offset();
  source.set_offset(offset + 4);
  // The finaliser of splitmix64 keeps neighbouring offsets apart.
  std::uint64_t number = source.current_seed() + (offset / 4 + 1) * 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

}  // namespace vcuda::aten
