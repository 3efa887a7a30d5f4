// CUDA's errors as other libraries word them: XLA, RAFT, Legion, Numba, NCCL, TensorFlow, TensorRT, Paddle, ONNX
// Runtime, and the checking macros of everybody's own code. What PyTorch, Thrust, CuPy and the tools print is
// parse_cuda_error's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "repro/parse_cuda_error.h"

namespace dsafuzz {

// The error that the line reports; nullopt if it names none, or only talks about one.
std::optional<CudaError> foreign_cuda_error(std::string_view line);

// The first call of CUDA's that the line shows: "expr=cudaEventDestroy(e);" gives "cudaEventDestroy"; empty if none.
std::string called_function(std::string_view line);

}  // namespace dsafuzz
