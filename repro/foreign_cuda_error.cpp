#include "repro/foreign_cuda_error.h"

#include <array>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

// The driver's names of what the runtime says in words.
struct DriverName {
  std::string_view name, text;
};
constexpr std::array kDriverNames{
    DriverName{"CUDA_ERROR_ASSERT", "device-side assert triggered"},
    DriverName{"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    DriverName{"CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    DriverName{"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    DriverName{"CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    DriverName{"CUDA_ERROR_ILLEGAL_INSTRUCTION", "an illegal instruction was encountered"},
    DriverName{"CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    DriverName{"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}};

// The class in front of a message: "a.b.XlaRuntimeError: INTERNAL: .."
std::string exception_at_front(std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return {};
  const std::string_view word = trimmed(line.substr(0, colon));
  const bool name = !contains(word, " ") && (word.ends_with("Error") || word.ends_with("Exception"));
  return name ? std::string(word) : std::string();
}

// "[710] Call to cuMemcpyDtoH results in CUDA_ERROR_ASSERT", ".. CUDA_ERROR_ASSERT: device-side assert triggered"
std::optional<CudaError> driver_named(std::string_view line) {
  for (const DriverName& known : kDriverNames) {
    const std::size_t at = line.find(known.name);
    if (at == std::string_view::npos) continue;
    const std::string_view after = line.substr(at + known.name.size());
    if (!after.empty() && is_word(after.front())) continue;
    const bool reported = contains(line, known.text) || contains(line, " results in CUDA_ERROR_");
    if (!reported) return std::nullopt;
    auto error = known_cuda_error(known.text);
    if (!error) return std::nullopt;
    error->exception = exception_at_front(line);
    std::string_view rest = line;
    if (take_until(rest, "Call to ")) error->api_call = std::string(rest.substr(0, rest.find(' ')));
    return error;
  }
  return std::nullopt;
}

// Words with which checking macros and libraries announce an error.
constexpr std::array<std::string_view, 9> kAnnounced{"CUDA Error",   "CUDA error",   "Cuda error",
                                                     "cuda error",   "Cuda failure", "CUDA failure",
                                                     "CUDA warning", "GPUassert",    "cudaError"};

// The two texts that nothing but CUDA says, behind an announcement and not in quotes of Markdown.
std::optional<CudaError> announced(std::string_view line) {
  for (std::string_view text : {"device-side assert triggered", "an illegal memory access was encountered"}) {
    const std::size_t at = line.find(text);
    if (at == std::string_view::npos) continue;
    const std::string_view before = line.substr(0, at);
    if (contains(before, "`")) return std::nullopt;
    for (std::string_view word : kAnnounced) {
      if (!contains(before, word)) continue;
      auto error = known_cuda_error(text);
      if (error) error->exception = exception_at_front(line);
      return error;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<CudaError> foreign_cuda_error(std::string_view line) {
  if (contains(line, "Program hit ") || contains(line, "[CUDA][")) return std::nullopt;  // the tools' own
  if (auto error = driver_named(line)) return error;
  return announced(line);
}

}  // namespace dsafuzz
