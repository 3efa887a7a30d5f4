// The markers that introduce one of CUDA's texts; cuda_codes has those.
#include "repro/parse_cuda_error.h"

#include <algorithm>
#include <array>

#include "repro/cuda_codes.h"
#include "repro/error_mention.h"
#include "repro/exception_name.h"
#include "repro/foreign_cuda_error.h"
#include "repro/parse_assert.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

CudaError from_code(const CudaCode& known, std::string_view family) {
  CudaError error;
  error.code = known.code;
  error.name = std::string(family) + std::string(known.name);
  error.text = std::string(known.text);
  return error;
}

// CUBLAS_STATUS_X when calling `fn( ..)`, CUSOLVER_STATUS_X, when calling `fn( ..)`, CUDNN_STATUS_X, CUFFT_X
std::optional<CudaError> library_error(std::string_view message) {
  constexpr std::array<std::string_view, 6> kFamilies{"CUBLAS_STATUS_",   "CUDNN_STATUS_", "CUSPARSE_STATUS_",
                                                      "CUSOLVER_STATUS_", "CUFFT_",        "NVRTC_ERROR_"};
  if (std::ranges::none_of(kFamilies, [&](std::string_view f) { return message.starts_with(f); })) return std::nullopt;
  CudaError error;
  error.text = std::string(message.substr(0, kVerbatimLimit));
  error.name = std::string(message.substr(0, message.find_first_of(" ,\n")));
  if (take_until(message, " when calling `")) error.api_call = std::string(message.substr(0, message.find('(')));
  return error;
}

struct Marker {
  std::string_view text, family;
};
constexpr std::array kMarkers{
    Marker{"CUDA error: ", "cudaError"},          Marker{"HIP error: ", "hipError"},
    Marker{"Triton Error [CUDA]: ", "cudaError"}, Marker{"Triton Error [HIP]: ", "hipError"},
    Marker{"cuDNN error: ", "cudaError"},         Marker{"cuDNN Frontend error: ", "cudaError"},
    Marker{"cusolver error: ", "cudaError"},      Marker{"cuFFT error: ", "cudaError"}};

bool mentions_error(std::string_view line) {
  return std::ranges::any_of(kMarkers, [&](const Marker& marker) {
    const std::size_t at = line.find(marker.text);
    return at != std::string_view::npos && only_mentions(line.substr(0, at), line.substr(at + marker.text.size()));
  });
}

std::optional<CudaError> marked_error(std::string_view line) {
  for (const Marker& marker : kMarkers) {
    const std::size_t at = line.find(marker.text);
    if (at == std::string_view::npos) continue;
    const std::string_view before = line.substr(0, at);
    std::string_view message = line.substr(at + marker.text.size());
    if (marker.family == "hipError") take_until(message, "Code: ") && take_until(message, "essage: ");
    std::optional<CudaError> error = library_error(message);
    if (!error) error = known_cuda_error(message);
    if (!error) {
      error.emplace();
      error->text = std::string(message.substr(0, kVerbatimLimit));
    } else if (marker.family == "hipError") {
      error->name.replace(0, std::string_view("cudaError").size(), marker.family);
    }
    error->exception = exception_before(before);
    if (error->exception.empty()) error->exception = exception_at_front(line);
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
  constexpr std::string_view kFailed = " failed";  // Thrust of before CUDA 11: "parallel_for failed: "
  if (left.ends_with(kNoticed) || left.ends_with(kFailed)) {
    left.remove_suffix(left.ends_with(kNoticed) ? kNoticed.size() : kFailed.size());
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
  if (const CudaCode* known = cuda_code_by_number(*error.code)) error.text = std::string(known->text);
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
  if (mentions_error(line)) return std::nullopt;
  if (auto error = marked_error(line)) return error;
  if (auto error = thc_error(line)) return error;
  if (auto error = named_error(line)) return error;
  if (auto error = tool_error(line)) return error;
  if (auto error = driver_log_error(line)) return error;
  return foreign_cuda_error(line);
}

// ggml tells the call two lines below: "  current device: 0, in function F at FILE:N", "  cudaStreamSynchronize(s)".
std::string call_below(const std::vector<std::string>& lines, std::size_t at) {
  return trimmed(lines[at]).starts_with("current device: ") ? called_function(lines[at + 1]) : std::string();
}

}  // namespace

bool is_sticky(int code) {
  const CudaCode* known = cuda_code_by_number(code);
  return known != nullptr && known->sticky;
}

std::string_view fault_word(const CudaError& error) {
  const CudaCode* known = cuda_code_by_text(error.text);
  if (known == nullptr && error.text.empty() && error.code) known = cuda_code_by_number(*error.code);
  return known == nullptr ? "cuda_error" : known->fault;
}

std::optional<CudaError> known_cuda_error(std::string_view text) {
  const CudaCode* known = cuda_code_by_text(text);
  return known == nullptr ? std::nullopt : std::optional(from_code(*known, "cudaError"));
}

std::optional<CudaError> parse_cuda_error(const LogText& log) {
  std::optional<CudaError> first;
  std::string thrown;  // from "terminate called after throwing an instance of 'c10::Error'"
  std::string raised;  // the class of a message that goes on below: "DistBackendError: NCCL error in: .."
  for (std::size_t i = 0; i < log.lines.size(); ++i) {
    std::string_view line = log.lines[i];
    std::string_view rest = line;
    if (take_until(rest, "throwing an instance of '")) {
      thrown = std::string(rest.substr(0, rest.find('\'')));
      continue;
    }
    const std::string_view above = i > 0 ? trimmed(log.lines[i - 1]) : std::string_view();
    if (contains(line, "NCCL error in: ")) raised = exception_at_front(line);
    auto error = error_in(line);
    if (!error) continue;
    if (error->exception.empty()) {
      if (trimmed(line).starts_with("what():") || above == "what():") error->exception = thrown;
      if (above == "Last error:") error->exception = raised;
    }
    if (!first) {
      first = std::move(error);
      first->log_line = i;
      first->verbatim = std::string(line.substr(0, kVerbatimLimit));
      if (first->api_call.empty() && i + 2 < log.lines.size()) first->api_call = call_below(log.lines, i + 1);
    } else if (first->exception.empty() && !first->from_tool && first->text == error->text) {
      first->exception = error->exception;  // caught and printed at first, raised later
    }
    if (!first->exception.empty()) break;
  }
  return first;
}

}  // namespace dsafuzz
