// CUDA's names and texts for the errors the virtual device knows.
#include "kernels/vcuda/runtime.h"

namespace vcuda {

const char* error_name(Error error) {
  switch (error) {
    case Error::none: return "cudaSuccess";
    case Error::invalid_value: return "cudaErrorInvalidValue";
    case Error::out_of_memory: return "cudaErrorMemoryAllocation";
    case Error::invalid_configuration: return "cudaErrorInvalidConfiguration";
    case Error::invalid_device: return "cudaErrorInvalidDevice";
    case Error::invalid_resource_handle: return "cudaErrorInvalidResourceHandle";
    case Error::illegal_address: return "cudaErrorIllegalAddress";
    case Error::assert_triggered: return "cudaErrorAssert";
    case Error::misaligned_address: return "cudaErrorMisalignedAddress";
    case Error::launch_failure: return "cudaErrorLaunchFailure";
  }
  return "cudaErrorUnknown";
}

const char* error_text(Error error) {
  switch (error) {
    case Error::none: return "no error";
    case Error::invalid_value: return "invalid argument";
    case Error::out_of_memory: return "out of memory";
    case Error::invalid_configuration: return "invalid configuration argument";
    case Error::invalid_device: return "invalid device ordinal";
    case Error::invalid_resource_handle: return "invalid resource handle";
    case Error::illegal_address: return "an illegal memory access was encountered";
    case Error::assert_triggered: return "device-side assert triggered";
    case Error::misaligned_address: return "misaligned address";
    case Error::launch_failure: return "unspecified launch failure";
  }
  return "unknown error";
}

bool is_sticky(Error error) {
  switch (error) {
    case Error::none:
    case Error::invalid_value:
    case Error::out_of_memory:
    case Error::invalid_configuration:
    case Error::invalid_device:
    case Error::invalid_resource_handle: return false;
    case Error::illegal_address:
    case Error::assert_triggered:
    case Error::misaligned_address:
    case Error::launch_failure: return true;
  }
  return false;
}

}  // namespace vcuda
