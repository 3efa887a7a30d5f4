// Names and texts as CUDA 13 gives them, and texts of earlier versions that differ.
#include "repro/cuda_codes.h"

#include <algorithm>
#include <array>

namespace dsafuzz {
namespace {

constexpr bool kLost = true, kKept = false;
constexpr std::array kCodes{
    CudaCode{700, 77, "IllegalAddress", "ILLEGAL_ADDRESS", "an illegal memory access was encountered",
             "illegal_memory_access", kLost},
    CudaCode{710, 59, "Assert", "ASSERT", "device-side assert triggered", "device_assert", kLost},
    CudaCode{714, 72, "HardwareStackError", "HARDWARE_STACK_ERROR", "hardware stack error", "hardware_stack_error",
             kLost},
    CudaCode{715, 73, "IllegalInstruction", "ILLEGAL_INSTRUCTION", "an illegal instruction was encountered",
             "illegal_instruction", kLost},
    CudaCode{716, 74, "MisalignedAddress", "MISALIGNED_ADDRESS", "misaligned address", "misaligned_address", kLost},
    CudaCode{717, 75, "InvalidAddressSpace", "INVALID_ADDRESS_SPACE",
             "operation not supported on global/shared address space", "invalid_address_space", kLost},
    CudaCode{718, 76, "InvalidPc", "INVALID_PC", "invalid program counter", "invalid_pc", kLost},
    CudaCode{719, 4, "LaunchFailure", "LAUNCH_FAILED", "unspecified launch failure", "launch_failure", kLost},
    CudaCode{702, 6, "LaunchTimeout", "LAUNCH_TIMEOUT", "the launch timed out and was terminated", "launch_timeout",
             kLost},
    CudaCode{214, 39, "ECCUncorrectable", "ECC_UNCORRECTABLE", "uncorrectable ECC error encountered", "ecc_error",
             kLost},
    CudaCode{220, 80, "NvlinkUncorrectable", "NVLINK_UNCORRECTABLE",
             "uncorrectable NVLink error detected during the execution", "nvlink_error", kLost},
    CudaCode{226, 0, "Contained", "CONTAINED", "Invalid access of peer GPU memory over nvlink or a hardware error",
             "contained_error", kLost},
    CudaCode{721, 0, "TensorMemoryLeak", "TENSOR_MEMORY_LEAK", "tensor memory not completely freed",
             "tensor_memory_leak", kLost},
    CudaCode{1, 11, "InvalidValue", "INVALID_VALUE", "invalid argument", "invalid_value", kKept},
    CudaCode{2, 0, "MemoryAllocation", "OUT_OF_MEMORY", "out of memory", "oom", kKept},
    CudaCode{3, 0, "InitializationError", "NOT_INITIALIZED", "initialization error", "initialization_error", kKept},
    CudaCode{4, 29, "CudartUnloading", "DEINITIALIZED", "driver shutting down", "driver_shutting_down", kKept},
    CudaCode{9, 0, "InvalidConfiguration", "", "invalid configuration argument", "invalid_configuration", kKept},
    CudaCode{13, 0, "InvalidSymbol", "", "invalid device symbol", "invalid_symbol", kKept},
    CudaCode{34, 0, "StubLibrary", "STUB_LIBRARY", "CUDA driver is a stub library", "stub_library", kKept},
    CudaCode{35, 0, "InsufficientDriver", "", "CUDA driver version is insufficient for CUDA runtime version",
             "driver_too_old", kKept},
    CudaCode{36, 0, "CallRequiresNewerDriver", "CALL_REQUIRES_NEWER_DRIVER",
             "API call is not supported in the installed CUDA driver", "driver_too_old", kKept},
    CudaCode{46, 0, "DevicesUnavailable", "DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable",
             "device_busy", kKept},
    CudaCode{46, 0, "DevicesUnavailable", "", "all CUDA-capable devices are busy or unavailable", "device_busy", kKept},
    CudaCode{98, 8, "InvalidDeviceFunction", "", "invalid device function", "invalid_device_function", kKept},
    CudaCode{100, 38, "NoDevice", "NO_DEVICE", "no CUDA-capable device is detected", "no_device", kKept},
    CudaCode{101, 10, "InvalidDevice", "INVALID_DEVICE", "invalid device ordinal", "invalid_device", kKept},
    CudaCode{200, 47, "InvalidKernelImage", "INVALID_IMAGE", "device kernel image is invalid", "no_kernel_image",
             kKept},
    CudaCode{201, 0, "DeviceUninitialized", "INVALID_CONTEXT", "invalid device context", "invalid_context", kKept},
    CudaCode{209, 48, "NoKernelImageForDevice", "NO_BINARY_FOR_GPU",
             "no kernel image is available for execution on the device", "no_kernel_image", kKept},
    CudaCode{217, 64, "PeerAccessUnsupported", "PEER_ACCESS_UNSUPPORTED",
             "peer access is not supported between these two devices", "peer_access", kKept},
    CudaCode{218, 78, "InvalidPtx", "INVALID_PTX", "a PTX JIT compilation failed", "invalid_ptx", kKept},
    CudaCode{222, 0, "UnsupportedPtxVersion", "UNSUPPORTED_PTX_VERSION",
             "the provided PTX was compiled with an unsupported toolchain.", "driver_too_old", kKept},
    CudaCode{304, 63, "OperatingSystem", "OPERATING_SYSTEM", "OS call failed or operation not supported on this OS",
             "os_call", kKept},
    CudaCode{400, 33, "InvalidResourceHandle", "INVALID_HANDLE", "invalid resource handle", "invalid_handle", kKept},
    CudaCode{401, 0, "IllegalState", "ILLEGAL_STATE", "the operation cannot be performed in the present state",
             "illegal_state", kKept},
    CudaCode{500, 0, "SymbolNotFound", "NOT_FOUND", "named symbol not found", "symbol_not_found", kKept},
    CudaCode{701, 7, "LaunchOutOfResources", "LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch",
             "launch_resources", kKept},
    CudaCode{704, 50, "PeerAccessAlreadyEnabled", "PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled",
             "peer_access", kKept},
    CudaCode{705, 51, "PeerAccessNotEnabled", "PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled",
             "peer_access", kKept},
    CudaCode{709, 0, "ContextIsDestroyed", "CONTEXT_IS_DESTROYED", "context is destroyed", "invalid_context", kKept},
    CudaCode{711, 60, "TooManyPeers", "TOO_MANY_PEERS", "peer mapping resources exhausted", "peer_access", kKept},
    CudaCode{712, 61, "HostMemoryAlreadyRegistered", "HOST_MEMORY_ALREADY_REGISTERED",
             "part or all of the requested memory range is already mapped", "host_memory", kKept},
    CudaCode{713, 62, "HostMemoryNotRegistered", "HOST_MEMORY_NOT_REGISTERED",
             "pointer does not correspond to a registered memory region", "host_memory", kKept},
    CudaCode{720, 82, "CooperativeLaunchTooLarge", "COOPERATIVE_LAUNCH_TOO_LARGE",
             "too many blocks in cooperative launch", "launch_resources", kKept},
    CudaCode{800, 70, "NotPermitted", "NOT_PERMITTED", "operation not permitted", "not_permitted", kKept},
    CudaCode{801, 71, "NotSupported", "NOT_SUPPORTED", "operation not supported", "not_supported", kKept},
    CudaCode{802, 0, "SystemNotReady", "SYSTEM_NOT_READY", "system not yet initialized", "system_not_ready", kKept},
    CudaCode{803, 0, "SystemDriverMismatch", "SYSTEM_DRIVER_MISMATCH",
             "system has unsupported display driver / cuda driver combination", "driver_mismatch", kKept},
    CudaCode{804, 0, "CompatNotSupportedOnDevice", "COMPAT_NOT_SUPPORTED_ON_DEVICE",
             "forward compatibility was attempted on non supported HW", "driver_mismatch", kKept},
    CudaCode{805, 0, "MpsConnectionFailed", "MPS_CONNECTION_FAILED",
             "MPS client failed to connect to the MPS control daemon or the MPS server", "mps_error", kKept},
    CudaCode{900, 0, "StreamCaptureUnsupported", "STREAM_CAPTURE_UNSUPPORTED",
             "operation not permitted when stream is capturing", "stream_capture", kKept},
    CudaCode{901, 0, "StreamCaptureInvalidated", "STREAM_CAPTURE_INVALIDATED",
             "operation failed due to a previous error during capture", "stream_capture", kKept},
    CudaCode{904, 0, "StreamCaptureUnjoined", "STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work",
             "stream_capture", kKept},
    CudaCode{906, 0, "StreamCaptureImplicit", "STREAM_CAPTURE_IMPLICIT",
             "operation would make the legacy stream depend on a capturing blocking stream", "stream_capture", kKept},
    CudaCode{912, 0, "InvalidClusterSize", "INVALID_CLUSTER_SIZE",
             "a kernel launch error has occurred due to cluster misconfiguration", "invalid_configuration", kKept},
    CudaCode{999, 30, "Unknown", "UNKNOWN", "unknown error", "unknown_error", kKept}};

}  // namespace

const CudaCode* cuda_code_by_text(std::string_view message) {
  const CudaCode* best = nullptr;
  for (const CudaCode& each : kCodes) {
    if (message.starts_with(each.text) && (best == nullptr || each.text.size() > best->text.size())) best = &each;
  }
  return best;
}

const CudaCode* cuda_code_by_name(std::string_view name) {
  constexpr std::string_view kRuntime = "cudaError", kHip = "hipError", kDriver = "CUDA_ERROR_";
  for (const CudaCode& each : kCodes) {
    for (std::string_view family : {kRuntime, kHip}) {
      if (name.starts_with(family) && name.substr(family.size()) == each.name) return &each;
    }
    if (!each.driver.empty() && name.starts_with(kDriver) && name.substr(kDriver.size()) == each.driver) return &each;
  }
  return nullptr;
}

const CudaCode* cuda_code_by_number(int code) {
  const auto* const found = std::ranges::find(kCodes, code, &CudaCode::code);
  return found == kCodes.end() ? nullptr : found;
}

}  // namespace dsafuzz
