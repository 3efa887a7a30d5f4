// See parse_host_sanitizer.h. A report is its ERROR line, an access line, and a stack of `#N 0x.. in FUNC FILE:LINE`.
#include "repro/parse_host_sanitizer.h"

#include "repro/parse_assert.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

// `    #0 0x55d0 in f(int) /src/a.cpp:12:3`
std::optional<Frame> stack_frame(std::string_view line) {
  line = trimmed(line);
  if (!take(line, "#") || !take_number(line) || !take_until(line, " in ")) return std::nullopt;
  Frame frame;
  const std::size_t blank = line.rfind(' ');
  frame.function = std::string(line.substr(0, blank));
  if (blank == std::string_view::npos) return frame;
  auto place = split_file_line(line.substr(blank + 1));
  if (!place) return frame;
  if (const auto before_column = split_file_line(place->file)) place = before_column;
  frame.file = trimmed_path(place->file);
  frame.line = place->line < 1'000'000'000 ? static_cast<int>(place->line) : 0;
  return frame;
}

}  // namespace

std::optional<HostSanitizerReport> parse_host_sanitizer(const LogText& log) {
  constexpr std::size_t kFrames = 16, kVerbatimLines = 12, kReach = 64;
  for (std::size_t i = 0; i < log.lines.size(); ++i) {
    std::string_view line = log.lines[i];
    if (!take_until(line, "ERROR: AddressSanitizer: ")) continue;
    HostSanitizerReport report;
    report.fault = std::string(line.substr(0, line.find_first_of(" :")));
    report.log_line = i;
    report.verbatim.push_back(log.lines[i].substr(0, kVerbatimLimit));
    for (std::size_t j = i + 1; j < log.lines.size() && j < i + kReach; ++j) {
      const std::string_view next = trimmed(log.lines[j]);
      if (report.verbatim.size() < kVerbatimLines) report.verbatim.emplace_back(next.substr(0, kVerbatimLimit));
      if (report.access.empty() && (next.starts_with("WRITE of size ") || next.starts_with("READ of size "))) {
        report.access = std::string(next.substr(0, next.find(" at ")));
      } else if (auto frame = stack_frame(next)) {
        if (report.frames.size() < kFrames) report.frames.push_back(std::move(*frame));
      } else if (!report.frames.empty()) {
        break;  // what follows is the stack of the allocation
      }
    }
    return report;
  }
  return std::nullopt;
}

}  // namespace dsafuzz
