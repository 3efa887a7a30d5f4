// CUDA's error codes: the runtime's and the driver's names of each, its text, and what it means for the process.
#pragma once

#include <string_view>

namespace dsafuzz {

struct CudaCode {
  int code;
  int old_code;             // of before CUDA 10.1; 0 where it had none, or the same
  std::string_view name;    // behind "cudaError" or "hipError"
  std::string_view driver;  // behind "CUDA_ERROR_"; empty where the driver has no such code
  std::string_view text;    // what cudaGetErrorString says
  std::string_view fault;   // one word for the cause
  bool sticky;              // the process's context is lost
};

// The code whose text stands at the front of `message`, the longest one; null if it is none of CUDA's texts.
const CudaCode* cuda_code_by_text(std::string_view message);
// By its whole name, as the runtime, HIP or the driver writes it: "cudaErrorAssert", "CUDA_ERROR_ASSERT".
const CudaCode* cuda_code_by_name(std::string_view name);
// By number, in today's counting.
const CudaCode* cuda_code_by_number(int code);

}  // namespace dsafuzz
