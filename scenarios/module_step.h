// A TorchScript file as a step: `y = module:net.pt(x)` runs the module's forward.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "repro/case.h"
#include "scenarios/operator_call.h"

namespace dsafuzz {

// Where module files are looked for; the worker's --modules flag. Empty: nowhere.
void set_module_folder(std::string folder);

// Drops what call_module has loaded. Call before a device's memory goes: the modules' parameters lie in it.
void forget_modules();

// Loads the file (once a process and device) and calls it. Throws what LibTorch throws, and c10::Error for a file
// that is missing or not TorchScript. TorchScript is code: only the folder the user named is read.
std::vector<c10::IValue> call_module(const Step& step, const Values& values, c10::Device device);

}  // namespace dsafuzz
