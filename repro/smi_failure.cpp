#include "repro/smi_failure.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "repro/log_text.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array kFailures{Pair{"couldn't communicate with the NVIDIA driver", "no_driver"},
                               Pair{"Failed to initialize NVML: Driver Not Loaded", "no_driver"},
                               Pair{"Driver/library version mismatch", "mismatch"},
                               Pair{"NVML/RM version mismatch", "mismatch"},
                               Pair{"Failed to initialize NVML: Unknown Error", "unknown_error"},
                               Pair{"Failed to initialize NVML: Insufficient Permissions", "permissions"},
                               Pair{"GPU access blocked by the operating system", "blocked"},
                               Pair{"couldn't find libnvidia-ml.so", "no_library"},
                               Pair{"Unable to determine the device handle", "gpu_lost"},
                               Pair{"GPU is lost", "gpu_lost"},
                               Pair{"No devices were found", "no_devices"},
                               Pair{"Failed to initialize NVML: ", "other"},
                               Pair{"nvidia-smi did not end within its time", "hangs"},
                               Pair{"command not found: nvidia-smi", "not_found"},
                               Pair{"ommand 'nvidia-smi' not found", "not_found"},
                               Pair{"nvidia-smi: command not found", "not_found"},
                               Pair{"nvidia-smi: not found", "not_found"},
                               Pair{"'nvidia-smi' is not recognized", "not_found"}};

// Words that every whole output has: -q and the table name the driver, -L the GPUs, the forms of --query-gpu a header.
constexpr std::array<std::string_view, 6> kForms{
    "Driver Version", "KMD Version", "(UUID: ", "index, ", "NVSMI LOG", "| NVIDIA-SMI "};

// Fan, power and load may fail alone; a GPU of which hardly anything can be read is lost.
constexpr std::size_t kLostFields = 4;

std::size_t count(std::string_view line, std::string_view word) {
  std::size_t n = 0;
  while (take_until(line, word)) ++n;
  return n;
}

// A shell says that it found no program in the user's language, but always behind the program's name: "bash:
// nvidia-smi: Kommando nicht gefunden".
bool is_shell_message(const std::vector<std::string>& lines) {
  if (lines.size() != 1 || contains(lines.front(), "/nvidia-smi")) return false;  // a path was found
  return contains(lines.front(), "nvidia-smi: ") || contains(lines.front(), "nvidia-smi : ");
}

}  // namespace

SmiFailure smi_failure(std::string_view text) {
  std::vector<std::string> lines;
  std::size_t unread = 0;  // most fields in one line, or in -q in a row, that could not be read
  std::size_t in_a_row = 0;
  std::string unread_line;
  bool is_form = false;
  for (const std::string& line : read_log_text(text).lines) {
    if (trimmed(line).empty()) continue;
    const std::size_t errors = count(line, "ERR!");
    in_a_row = contains(line, " : Unknown Error") || contains(line, " : GPU is lost") ? in_a_row + 1 : in_a_row;
    if (line.starts_with("GPU ")) in_a_row = 0;
    if (std::max(errors, in_a_row) > unread) {
      unread = std::max(errors, in_a_row);
      unread_line = trimmed(line);
    }
    is_form = is_form || std::ranges::any_of(kForms, [&](std::string_view words) { return contains(line, words); });
    lines.emplace_back(trimmed(line));
  }
  for (const auto& [words, kind] : kFailures) {
    const auto at = std::ranges::find_if(lines, [&](const std::string& line) { return contains(line, words); });
    if (at != lines.end()) return {kind, *at};
  }
  if (unread > 0) return {unread < kLostFields ? "sensors" : "gpu_lost", unread_line};
  if (lines.empty() || is_form) return {};
  return {is_shell_message(lines) ? "not_found" : "unreadable", lines.front()};
}

}  // namespace dsafuzz
