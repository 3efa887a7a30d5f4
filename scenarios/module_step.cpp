#include "scenarios/module_step.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <map>

namespace dsafuzz {
namespace {
std::string& module_folder() {
  static auto& folder = *new std::string();
  return folder;
}

std::map<std::string, torch::jit::Module>& loaded_modules() {
  static auto& modules = *new std::map<std::string, torch::jit::Module>();
  return modules;
}

}  // namespace

void forget_modules() { loaded_modules().clear(); }

void set_module_folder(std::string folder) { module_folder() = std::move(folder); }

std::vector<c10::IValue> call_module(const Step& step, const Values& values, c10::Device device) {
  auto& loaded = loaded_modules();
  const std::string name = step.op.substr(std::string("module:").size());
  TORCH_CHECK(!module_folder().empty(), "no folder for module files: ", name);
  const std::string key = name + " " + device.str();
  auto found = loaded.find(key);
  if (found == loaded.end()) found = loaded.emplace(key, torch::jit::load(module_folder() + "/" + name, device)).first;
  std::vector<c10::IValue> inputs;
  for (const Argument& a : step.arguments) {
    const auto* word = std::get_if<Name>(&a.value.v);
    const auto value = word ? values.find(word->text) : values.end();
    TORCH_CHECK(value != values.end(), "a module takes tensors by position, without names");
    inputs.push_back(value->second);
  }
  c10::IValue result = found->second.forward(std::move(inputs));
  if (result.isTuple()) return result.toTuple()->elements().vec();
  return {std::move(result)};
}

}  // namespace dsafuzz
