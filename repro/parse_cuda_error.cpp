// A table of CUDA's texts, and the markers that introduce one.
#include "repro/parse_cuda_error.h"

#include <algorithm>
#include <array>

#include "repro/foreign_cuda_error.h"
#include "repro/parse_assert.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

struct Known {
  int code;
  std::string_view name, text, fault;
  bool sticky;
};
constexpr std::array kKnown{
    Known{700, "IllegalAddress", "an illegal memory access was encountered", "illegal_memory_access", true},
    Known{710, "Assert", "device-side assert triggered", "device_assert", true},
    Known{714, "HardwareStackError", "hardware stack error", "hardware_stack_error", true},
    Known{715, "IllegalInstruction", "an illegal instruction was encountered", "illegal_instruction", true},
    Known{716, "MisalignedAddress", "misaligned address", "misaligned_address", true},
    Known{717, "InvalidAddressSpace", "operation not supported on global/shared address space", "invalid_address_space",
          true},
    Known{718, "InvalidPc", "invalid program counter", "invalid_pc", true},
    Known{719, "LaunchFailure", "unspecified launch failure", "launch_failure", true},
    Known{702, "LaunchTimeout", "the launch timed out and was terminated", "launch_timeout", true},
    Known{209, "NoKernelImageForDevice", "no kernel image is available for execution on the device", "no_kernel_image",
          false},
    Known{98, "InvalidDeviceFunction", "invalid device function", "invalid_device_function", false},
    Known{2, "MemoryAllocation", "out of memory", "oom", false},
    Known{1, "InvalidValue", "invalid argument", "invalid_value", false},
    Known{101, "InvalidDevice", "invalid device ordinal", "invalid_device", false},
    Known{35, "InsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version", "driver_too_old",
          false},
    Known{100, "NoDevice", "no CUDA-capable device is detected", "no_device", false},
    Known{999, "Unknown", "unknown error", "unknown_error", false}};

CudaError from_known(const Known& known, std::string_view family) {
  CudaError error;
  error.code = known.code;
  error.name = std::string(family) + std::string(known.name);
  error.text = std::string(known.text);
  return error;
}

// The word at the end of `s`, of letters, digits, `_`, `.` and `:`.
std::string_view word_at_end(std::string_view s) {
  std::size_t i = s.size();
  while (i > 0 && (is_word(s[i - 1]) || s[i - 1] == '.' || s[i - 1] == ':')) --i;
  return s.substr(i);
}

bool is_exception_name(std::string_view word) {
  return word.size() > 5 && (word.ends_with("Error") || word.ends_with("Exception"));
}

// `before` is what precedes the message: "torch.AcceleratorError: ". Empty if that is no exception.
std::string exception_before(std::string_view before) {
  before = trimmed(before);
  if (!before.ends_with(':')) return {};
  before.remove_suffix(1);
  const std::string_view word = word_at_end(before);
  return is_exception_name(word) ? std::string(word) : std::string();
}

// Documentation and advice quote the text: "If you see `RuntimeError: CUDA error: ..`".
bool is_mention(std::string_view before) {
  std::string_view rest = trimmed(before);
  if (rest.ends_with(':')) rest.remove_suffix(1);
  rest.remove_suffix(word_at_end(rest).size());
  return rest.ends_with('`');
}

// CUBLAS_STATUS_X when calling `fn( ..)`
std::optional<CudaError> library_error(std::string_view message) {
  if (!message.starts_with("CUBLAS_STATUS_") && !message.starts_with("CUDNN_STATUS_")) return std::nullopt;
  CudaError error;
  error.text = std::string(message.substr(0, kVerbatimLimit));
  error.name = std::string(message.substr(0, message.find_first_of(" \n")));
  if (take_until(message, " when calling `")) error.api_call = std::string(message.substr(0, message.find('(')));
  return error;
}

struct Marker {
  std::string_view text, family;
};
constexpr std::array kMarkers{Marker{"CUDA error: ", "cudaError"}, Marker{"HIP error: ", "hipError"},
                              Marker{"Triton Error [CUDA]: ", "cudaError"}};

std::optional<CudaError> marked_error(std::string_view line) {
  for (const Marker& marker : kMarkers) {
    const std::size_t at = line.find(marker.text);
    if (at == std::string_view::npos) continue;
    const std::string_view before = line.substr(0, at);
    const std::string_view message = line.substr(at + marker.text.size());
    if (is_mention(before)) return std::nullopt;
    std::optional<CudaError> error = library_error(message);
    if (!error) error = known_cuda_error(message);
    if (!error) {
      error.emplace();
      error->text = std::string(message.substr(0, kVerbatimLimit));
    } else if (marker.family == "hipError") {
      error->name.replace(0, std::string_view("cudaError").size(), marker.family);
    }
    error->exception = exception_before(before);
    return error;
  }
  return std::nullopt;
}

// cuda runtime error (59) : device-side assert triggered at FILE:N, with the numbers of before CUDA 10.1
std::optional<CudaError> thc_error(std::string_view line) {
  std::string_view rest = line;
  const auto before = take_until(rest, "cuda runtime error (");
  if (!before) return std::nullopt;
  const auto code = take_number(rest);
  if (!code || !take(rest, ") : ")) return std::nullopt;
  auto error = known_cuda_error(rest);
  if (!error) return std::nullopt;
  error->code = static_cast<int>(*code);
  error->exception = exception_before(*before);
  return error;
}

// Thrust: "RuntimeError: copy_if failed to synchronize: cudaErrorAssert: device-side .."; CuPy without the middle.
std::optional<CudaError> named_error(std::string_view line) {
  std::string_view rest = line;
  const auto before = take_until(rest, ": cudaError");
  if (!before || !take_until(rest, ": ")) return std::nullopt;
  auto error = known_cuda_error(rest);
  if (!error) return std::nullopt;
  std::string_view left = *before;
  constexpr std::string_view kNoticed = " failed to synchronize";
  if (left.ends_with(kNoticed)) {
    left.remove_suffix(kNoticed.size());
    if (left.ends_with(':')) left.remove_suffix(1);
    error->api_call = std::string(word_at_end(left));
    left.remove_suffix(error->api_call.size());
    error->exception = exception_before(left);
  } else if (is_exception_name(word_at_end(left))) {
    error->exception = std::string(word_at_end(left));
  }
  return error;
}

// Program hit cudaErrorX (error N) due to "text" on CUDA API call to fn.
std::optional<CudaError> tool_error(std::string_view line) {
  std::string_view rest = line;
  if (!take_until(rest, "Program hit ")) return std::nullopt;
  const auto name = take_until(rest, " (error ");
  const auto code = name ? take_number(rest) : std::nullopt;
  if (!code || !is_sticky(static_cast<int>(*code))) return std::nullopt;
  CudaError error;
  error.code = static_cast<int>(*code);
  error.name = std::string(*name);
  for (const Known& known : kKnown) {
    if (known.code == *code) error.text = std::string(known.text);
  }
  if (take_until(rest, "API call to ")) error.api_call = std::string(rest.substr(0, rest.find_first_of(" .<")));
  error.from_tool = true;
  return error;
}

// CUDA_LOG_FILE: Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemcpyDtoHAsync
std::optional<CudaError> driver_log_error(std::string_view line) {
  std::string_view rest = line;
  if (!contains(line, "[CUDA]") || !take_until(rest, "Returning ")) return std::nullopt;
  const auto code = take_number(rest);
  if (!code || !take(rest, " (")) return std::nullopt;
  const auto name = take_until(rest, ")");
  if (!name) return std::nullopt;
  CudaError error;
  error.code = static_cast<int>(*code);
  error.name = std::string(*name);
  if (take(rest, " from ")) error.api_call = std::string(trimmed(rest));
  error.from_tool = true;
  return error;
}

std::optional<CudaError> error_in(std::string_view line) {
  constexpr std::array<std::string_view, 6> kHints{"rror",    "Returning ", "CUDA_ERROR_",
                                                   "failure", "warning",    "GPUassert"};
  if (std::ranges::none_of(kHints, [&](std::string_view hint) { return contains(line, hint); })) return std::nullopt;
  if (auto error = marked_error(line)) return error;
  if (auto error = thc_error(line)) return error;
  if (auto error = named_error(line)) return error;
  if (auto error = tool_error(line)) return error;
  if (auto error = driver_log_error(line)) return error;
  return foreign_cuda_error(line);
}

}  // namespace

bool is_sticky(int code) {
  return std::ranges::any_of(kKnown, [&](const Known& known) { return known.code == code && known.sticky; });
}

std::string_view fault_word(const CudaError& error) {
  for (const Known& known : kKnown) {
    const bool same_text = !error.text.empty() && error.text.starts_with(known.text);
    if (same_text || (error.text.empty() && error.code == known.code)) return known.fault;
  }
  return "cuda_error";
}

std::optional<CudaError> known_cuda_error(std::string_view text) {
  for (const Known& known : kKnown) {
    if (text.starts_with(known.text)) return from_known(known, "cudaError");
  }
  return std::nullopt;
}

std::optional<CudaError> parse_cuda_error(const LogText& log) {
  std::optional<CudaError> first;
  std::string thrown;  // from "terminate called after throwing an instance of 'c10::Error'"
  for (std::size_t i = 0; i < log.lines.size(); ++i) {
    std::string_view line = log.lines[i];
    std::string_view rest = line;
    if (take_until(rest, "throwing an instance of '")) {
      thrown = std::string(rest.substr(0, rest.find('\'')));
      continue;
    }
    auto error = error_in(line);
    if (!error) continue;
    if (error->exception.empty() && trimmed(line).starts_with("what():")) error->exception = thrown;
    if (!first) {
      first = std::move(error);
      first->log_line = i;
      first->verbatim = std::string(line.substr(0, kVerbatimLimit));
    } else if (first->exception.empty() && !first->from_tool && first->text == error->text) {
      first->exception = error->exception;  // caught and printed at first, raised later
    }
    if (!first->exception.empty()) break;
  }
  return first;
}

}  // namespace dsafuzz
