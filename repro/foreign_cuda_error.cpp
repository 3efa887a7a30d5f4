// Three ways to say it: by the driver's or the runtime's name, by CUDA's own text behind some announcement, and by a
// number alone. A number is believed only where it is the text's or the name's, today's or that of before CUDA 10.1.
#include "repro/foreign_cuda_error.h"

#include <algorithm>
#include <array>

#include "repro/cuda_codes.h"
#include "repro/error_mention.h"
#include "repro/exception_name.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

std::string_view word_at(std::string_view s) {
  std::size_t end = 0;
  while (end < s.size() && is_word(s[end])) ++end;
  return s.substr(0, end);
}

// The number behind "CUDA error", "CUDA failure", "code": "error(719)", "error 700:", "code=700(".
std::optional<int> printed_code(std::string_view line, const CudaCode& known) {
  for (std::string_view announced : {"rror", "ailure", "code"}) {
    for (std::size_t at = line.find(announced); at != std::string_view::npos; at = line.find(announced, at + 1)) {
      std::string_view rest = line.substr(at + announced.size());
      while (!rest.empty() && (rest.front() == ' ' || rest.front() == '(' || rest.front() == '='))
        rest.remove_prefix(1);
      const auto number = take_number(rest);
      if (number && (*number == known.code || (known.old_code != 0 && *number == known.old_code))) {
        return static_cast<int>(*number);
      }
    }
  }
  return std::nullopt;
}

bool is_api_name(std::string_view name) {
  for (std::string_view family : {"cuda", "cu", "hip", "nccl", "cublas", "cudnn"}) {
    const std::string_view rest = name.starts_with(family) ? name.substr(family.size()) : std::string_view();
    if (!rest.empty() && rest.front() >= 'A' && rest.front() <= 'Z') return true;
  }
  return false;
}

CudaError error_of(const CudaCode& known, std::string_view line) {
  CudaError error;
  error.code = printed_code(line, known).value_or(known.code);
  error.name = "cudaError" + std::string(known.name);
  error.text = std::string(known.text);
  error.exception = exception_at_front(line);
  std::string_view rest = line;
  error.api_call = take_until(rest, "Call to ") ? std::string(word_at(rest)) : called_function(line);
  rest = line;
  const auto failed = take_until(rest, " failed: ");  // PyCUDA: "cuMemcpyDtoH failed: "
  if (error.api_call.empty() && failed && is_api_name(word_at_end(*failed))) error.api_call = word_at_end(*failed);
  return error;
}

// "[700] Call to cuMemcpyDtoH results in UNKNOWN_CUDA_ERROR", in the numbers of the driver
std::optional<CudaError> numba_error(std::string_view line) {
  std::string_view rest = line;
  const auto before = take_until(rest, "] Call to ");
  if (!before || !contains(rest, " results in ")) return std::nullopt;
  std::string_view digits = before->substr(before->rfind('[') + 1);
  const auto code = take_number(digits);
  const CudaCode* known = code && digits.empty() ? cuda_code_by_number(static_cast<int>(*code)) : nullptr;
  return known == nullptr ? std::nullopt : std::optional(error_of(*known, line));
}

// "context: CUDA_ERROR_ILLEGAL_ADDRESS :: ..", "CUDA_ERROR_ASSERT: device-side assert triggered", and
// `code=700(cudaErrorIllegalAddress) "cudaFree(p)"`. A name without a colon or a code before it is a constant.
std::optional<CudaError> named(std::string_view line) {
  for (std::string_view family : {"CUDA_ERROR_", "cudaError"}) {
    for (std::size_t at = line.find(family); at != std::string_view::npos; at = line.find(family, at + 1)) {
      const CudaCode* known = cuda_code_by_name(word_at(line.substr(at)));
      if (known == nullptr) continue;
      std::string_view before = line.substr(0, at);
      const std::string_view after = line.substr(at);
      if (only_mentions(before, after)) return std::nullopt;
      const bool told = contains(line, known->text) || contains(before, " results in ");
      const bool failed = contains(before, "rror") || contains(before, "could not") || contains(before, "ailed");
      const bool after_colon = before.ends_with(": ") && family == "CUDA_ERROR_" && failed;
      bool after_code = before.ends_with('(');
      if (after_code) before.remove_suffix(1);
      after_code = after_code && !before.empty() && is_digit(before.back()) && printed_code(before, *known);
      if (told || after_colon || after_code) return error_of(*known, line);
    }
  }
  return std::nullopt;
}

// Words with which checking macros and libraries announce an error.
constexpr std::array<std::string_view, 10> kAnnounced{"CUDA Error",   "CUDA error",    "Cuda error",   "cuda error",
                                                      "Cuda failure", "CUDA failure",  "CUDA warning", "GPUassert",
                                                      "cudaError",    "Cuda Runtime ("};
// Texts that nothing but CUDA says: any word for an error announces them.
constexpr std::array<std::string_view, 3> kUnique{"device-side assert triggered",
                                                  "an illegal memory access was encountered",
                                                  "an illegal instruction was encountered"};
// Texts that others say too.
constexpr std::array<std::string_view, 6> kCommon{"unspecified launch failure",
                                                  "misaligned address",
                                                  "hardware stack error",
                                                  "operation not supported on global/shared address space",
                                                  "the launch timed out and was terminated",
                                                  "no kernel image is available for execution on the device"};

bool has_any(std::string_view s, const auto& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return contains(s, word); });
}

std::optional<CudaError> announced(std::string_view line) {
  const auto read = [&](std::string_view text, const auto& words) -> std::optional<CudaError> {
    const std::size_t at = line.find(text);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view before = line.substr(0, at), after = line.substr(at);
    if (contains(before, "`") || !has_any(before, words) || only_mentions(before, after)) return std::nullopt;
    return error_of(*cuda_code_by_text(text), line);
  };
  constexpr std::array<std::string_view, 5> kAnyWord{"rror", "ERROR", "failure", "warning", "GPUassert"};
  for (std::string_view text : kUnique) {
    if (auto error = read(text, kAnyWord)) return error;
  }
  for (std::string_view text : kCommon) {
    if (auto error = read(text, kAnnounced)) return error;
  }
  return std::nullopt;
}

}  // namespace

std::string called_function(std::string_view line) {
  for (std::size_t open = line.find('('); open != std::string_view::npos; open = line.find('(', open + 1)) {
    const std::string_view left = line.substr(0, open);
    std::size_t i = left.size();
    while (i > 0 && is_word(left[i - 1])) --i;
    if (is_api_name(left.substr(i))) return std::string(left.substr(i));
  }
  return {};
}

std::optional<CudaError> foreign_cuda_error(std::string_view line) {
  // Every name is judged by all of its line, so that very long ones must not be read whole.
  constexpr std::size_t kReadAtMost = 2048;
  line = line.substr(0, kReadAtMost);
  if (contains(line, "Program hit ") || contains(line, "[CUDA][")) return std::nullopt;  // the tools' own
  if (auto error = numba_error(line)) return error;
  if (auto error = named(line)) return error;
  return announced(line);
}

}  // namespace dsafuzz
