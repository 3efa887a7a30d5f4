// The wording of PyTorch 2.11's CUDA errors. The lines about asynchrony are missing when launches block, and
// a wheel always has the line about TORCH_USE_CUDA_DSA.
#include "kernels/aten/error.h"

#include <c10/util/Exception.h>

#include <string>

namespace vcuda::aten {
namespace {

std::string message_of(Error error) {
  std::string text = std::string("CUDA error: ") + error_text(error) + "\n";
  if (error == Error::invalid_device) {
    text += "GPU device may be out of range, do you have enough GPUs?\n";
  } else {
    text += std::string("Search for `") + error_name(error) +
            "' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.\n";
  }
  if (!options().blocking) {
    text +=
        "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
        "incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\n";
  }
  return text + "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n";
}

}  // namespace

void check(Error error) {
  if (error == Error::none) return;
  throw c10::AcceleratorError({__func__, __FILE__, static_cast<std::uint32_t>(__LINE__)}, static_cast<int>(error),
                              message_of(error));
}

}  // namespace vcuda::aten
