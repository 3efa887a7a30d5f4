#include "scenarios/program.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "kernels/vcuda/runtime.h"
#include "scenarios/case_tensors.h"
#include "scenarios/gpu_versions.h"
#include "scenarios/module_step.h"
#include "scenarios/operator_call.h"

namespace dsafuzz {
namespace {

c10::Device torch_device(Device device) {
  switch (device.kind) {
    case Device::Kind::cpu: return c10::Device(c10::kCPU);
    case Device::Kind::vcuda: return c10::Device(c10::kPrivateUse1, static_cast<c10::DeviceIndex>(device.index));
    case Device::Kind::cuda: return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(device.index));
  }
  std::unreachable();
}

void synchronize(c10::Device device) {
  if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

// Autocast as long as it lives, for precision modes that ask for it.
class AutocastScope {
 public:
  AutocastScope(Precision precision, c10::DeviceType device) : device_(device) {
    if (precision != Precision::autocast_float16 && precision != Precision::autocast_bfloat16) return;
    active_ = true;
    at::autocast::set_autocast_dtype(device, precision == Precision::autocast_float16 ? at::kHalf : at::kBFloat16);
    at::autocast::set_autocast_enabled(device, true);
    at::autocast::increment_nesting();
  }
  ~AutocastScope() {
    if (!active_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, false);
  }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  c10::DeviceType device_;
  bool active_ = false;
};

void note_result(const std::string& name, const c10::IValue& value, std::vector<ResultTensor>& out) {
  if (!value.isTensor() || !value.toTensor().defined()) return;
  const at::Tensor& t = value.toTensor();
  const auto dtype = to_dtype(t.scalar_type());
  if (dtype) out.push_back({name, *dtype, t.sizes().vec()});
}

// The types a user would see, most derived first.
std::string type_of(const c10::Error& e) {
  if (dynamic_cast<const c10::AcceleratorError*>(&e)) return "c10::AcceleratorError";
  if (dynamic_cast<const c10::OutOfMemoryError*>(&e)) return "c10::OutOfMemoryError";
  if (dynamic_cast<const c10::IndexError*>(&e)) return "c10::IndexError";
  if (dynamic_cast<const c10::ValueError*>(&e)) return "c10::ValueError";
  if (dynamic_cast<const c10::TypeError*>(&e)) return "c10::TypeError";
  if (dynamic_cast<const c10::NotImplementedError*>(&e)) return "c10::NotImplementedError";
  return "c10::Error";
}

class Run {
 public:
  Run(const Case& c, Device device, const std::function<void(int)>& at_step)
      : case_(c), device_(torch_device(device)), at_step_(at_step) {}

  void operator()(Outcome& outcome) {
    outcome_ = &outcome;
    const bool backward = case_.phase == Phase::backward;
    const c10::AutoGradMode grad(backward);
    enter(-1, "inputs");
    make_tensors(backward);
    {
      const AutocastScope autocast(case_.precision, device_.type());
      for (std::size_t i = 0; i < case_.steps.size(); ++i) {
        enter(static_cast<int>(i), case_.steps[i].op);
        if (!call(case_.steps[i])) return;
        synchronize_all();
      }
    }
    const int after = static_cast<int>(case_.steps.size());
    if (backward) {
      enter(after, "backward");
      run_backward();
      synchronize_all();
    }
    enter(after, "synchronize");
    synchronize_all();
  }

  // Whether all devices of the run still work. An error of cuBLAS, or one that an operator words itself, does not say.
  bool devices_answer() const {
    try {
      synchronize_all();
      return true;
    } catch (...) {
      return false;
    }
  }

 private:
  void enter(int step, const std::string& op) {
    outcome_->step = step;
    outcome_->op = op;
    set_place(op);
    at_step_(step);
  }

  // A failure stays on the device where it happened until that one is asked: the run's own, and those of its tensors.
  void synchronize_all() const {
    synchronize(device_);
    for (const c10::Device& device : others_) synchronize(device);
  }

  // Reports of memory faults name it. Other devices do not ask.
  void set_place(const std::string& place) const {
    if (device_.is_privateuseone()) vcuda::set_place(place);
  }

  void make_tensors(bool backward) {
    const bool any_parameter = std::ranges::any_of(case_.tensors, &TensorSpec::parameter);
    for (const TensorSpec& spec : case_.tensors) {
      set_place("tensor " + spec.name);
      at::Tensor t = make_tensor(case_, spec, device_);
      if (t.device() != device_ && std::ranges::find(others_, t.device()) == others_.end()) {
        others_.push_back(t.device());
      }
      // Without parameters, gradients are asked of the floating inputs.
      if (backward && is_floating(spec.dtype) && (spec.parameter || !any_parameter)) t.set_requires_grad(true);
      values_.insert_or_assign(spec.name, std::move(t));
    }
  }

  bool call(const Step& step) {
    std::vector<c10::IValue> results;
    if (step.op.starts_with("module:")) {
      results = call_module(step, values_, device_);
    } else {
      auto bound = bind_operator(step, values_, case_.shapes, device_);
      if (!bound) {
        outcome_->end = Outcome::End::not_run;
        outcome_->error = bound.error().text();
        return false;
      }
      bound->op.callBoxed(&bound->stack);
      results = std::move(bound->stack);
    }
    for (std::size_t i = 0; i < step.results.size() && i < results.size(); ++i) {
      note_result(step.results[i], results[i], outcome_->results);
      values_.insert_or_assign(step.results[i], std::move(results[i]));
    }
    return true;
  }

  // The gradient of the sum of the last floating result.
  void run_backward() {
    for (auto step = case_.steps.rbegin(); step != case_.steps.rend(); ++step) {
      for (const std::string& name : step->results) {
        const auto found = values_.find(name);
        if (found == values_.end() || !found->second.isTensor()) continue;
        const at::Tensor& t = found->second.toTensor();
        if (!t.requires_grad()) continue;
        const at::Tensor total = t.dim() == 0 ? t : t.sum();
        total.backward();
        return;
      }
    }
  }

  const Case& case_;
  c10::Device device_;
  std::vector<c10::Device> others_;  // of tensors that lie elsewhere
  const std::function<void(int)>& at_step_;
  Values values_;
  Outcome* outcome_ = nullptr;
};

}  // namespace

Outcome Program::run(const Case& c, const std::function<void(int)>& at_step, bool want_results) {
  Outcome outcome;
  outcome.device = device_.text();
  const auto begin = std::chrono::steady_clock::now();
  const auto threw = [&](std::string type, std::string text) {
    static constexpr std::size_t kLimit = std::size_t{16} << 10;
    outcome.end = Outcome::End::threw;
    outcome.error_type = std::move(type);
    outcome.error = std::move(text);
    if (outcome.error.size() > kLimit) outcome.error.resize(kLimit);
  };
  auto run = std::make_unique<Run>(c, device_, at_step);
  try {
    (*run)(outcome);
  } catch (const c10::Error& e) {
    // With TORCH_SHOW_CPP_STACKTRACES the message carries the C++ frames, which diagnosis reads.
    const char* stacks = std::getenv("TORCH_SHOW_CPP_STACKTRACES");
    threw(type_of(e), stacks && *stacks == '1' ? e.what() : e.what_without_backtrace());
  } catch (const std::exception& e) {
    threw("std::exception", e.what());
  } catch (...) {
    threw("unknown", "an exception of unknown type");
  }
  if (device_.kind == Device::Kind::cuda && outcome.end == Outcome::End::threw) {
    device_lost_ = outcome.error_type == "c10::AcceleratorError" || !run->devices_answer();
    // Without a cache, freeing a tensor throws there, out of a destructor: the process would end before it has
    // answered.
    if (device_lost_) (void)run.release();
  }
  run.reset();
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (device_.kind == Device::Kind::vcuda)
    outcome.peak_device_bytes = static_cast<std::int64_t>(vcuda::memory_stats(device_.index).peak_bytes);
  if (outcome.end == Outcome::End::returned && !want_results) outcome.results.clear();
  return outcome;
}

void Program::warm_up() const {
  try {
    const at::Tensor t = at::zeros({2, 2}).to(torch_device(device_));
    at::log_softmax(at::linear(t, t), 1).to(at::kCPU);
  } catch (...) {
  }
}

std::map<std::string, std::string> Program::versions(Device device) {
  std::map<std::string, std::string> out;
  out["torch"] = TORCH_VERSION;
  if (device.kind == Device::Kind::cuda) out.merge(gpu_versions(device.index));
  if (device.own_kernels) out["kernels"] = "dsafuzz's own in the place of ATen's";
  if (device.kind == Device::Kind::vcuda) out["device"] = "virtual CUDA device, not a GPU";
  return out;
}

}  // namespace dsafuzz
