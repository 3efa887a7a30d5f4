// The texts in which a failed CUDA (or HIP) call reaches the reader: PyTorch's of all eras, Thrust's, Triton's,
// CuPy's, THC's, the sanitizer's "Program hit". The first one is the fault, later ones repeat it.
#pragma once

#include <optional>
#include <string>

#include "repro/log_text.h"

namespace dsafuzz {

struct CudaError {
  std::optional<int> code;  // as printed, else that of the text; none for library codes and unknown texts
  std::string name;         // "cudaErrorAssert", "hipErrorLaunchFailure", "CUBLAS_STATUS_EXECUTION_FAILED"
  std::string text;         // "device-side assert triggered"
  std::string exception;    // class as printed, empty if none
  std::string api_call;     // the call that noticed, where the text names it
  bool from_tool = false;   // a sanitizer's or the driver's log said so, not the program
  std::size_t log_line = 0;
  std::string verbatim;
};

std::optional<CudaError> parse_cuda_error(const LogText& log);

// The error whose message begins with `text`; nullopt if it is not one of CUDA's known texts. No exception set.
std::optional<CudaError> known_cuda_error(std::string_view text);

// The process's CUDA context is lost after it.
bool is_sticky(int code);
// "device_assert", "illegal_memory_access": one word for the cause a code names.
std::string_view fault_word(const CudaError& error);

}  // namespace dsafuzz
