// Where NVIDIA's debugging tools and gdb are: on PATH, in the toolkit, in PyPI's wheels beside PyTorch.
#pragma once

#include <string>

#include "repro/result.h"

namespace dsafuzz {

// The path of "compute-sanitizer", "cuda-gdb" or "gdb"; `python` is the interpreter whose wheels are looked at, which
// is not started. Problem (environment): it is not there; the remedy is the command that installs it.
Result<std::string> find_debugger(const std::string& name, const std::string& python);

}  // namespace dsafuzz
