// Whose code or which tool wrote what a log shows first, and of which era where the form tells.
#pragma once

#include <string>

#include "repro/parse_log.h"

namespace dsafuzz {

// Asserts: "aten", "c10", "thcunn", "thc", "aten_hip", "triton", "triton_xpu", "triton_rocm", "dsa", "extension".
// Errors: "pytorch", "hip", "triton", "cupy", "numba", "xla", "CUDA_LOG_FILE". Tools: "compute-sanitizer>=2025.1",
// "cuda-memcheck", "cuda-gdb cudacore", "nvidia-smi -q", "torchrun", "glibc assert". Empty if the log shows nothing.
std::string origin_of(const LogText& log, const LogReading& reading);

}  // namespace dsafuzz
