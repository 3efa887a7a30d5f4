// See log_extent.h.
#include "repro/log_extent.h"

#include <algorithm>
#include <array>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

// Lines that follow an error's text, from PyTorch 1.9 on: the warning, and what stands there with or without it.
constexpr std::array<std::string_view, 2> kAsync{"CUDA kernel errors might be asynchronously reported",
                                                 "HIP kernel errors might be asynchronously reported"};
constexpr std::array<std::string_view, 6> kAfterError{"Compile with `TORCH_USE_",
                                                      "Search for `cudaError",
                                                      "Search for `hipError",
                                                      "Device-side assertion tracking was",
                                                      "Looking for device-side assertion failure information",
                                                      "For more detailed error information, run with CUDA_LOG_FILE"};

// Texts whose beginning alone at the end of a log shows that it was cut.
constexpr std::array<std::string_view, 11> kEndings{
    "CUDA kernel errors might be asynchronously reported at some other API call",
    "HIP kernel errors might be asynchronously reported at some other API call",
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
    "For debugging consider passing AMD_SERIALIZE_KERNEL=3",
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions",
    "Compile with `TORCH_USE_HIP_DSA` to enable device-side assertions",
    "=========     Saved host backtrace up to driver entry point at kernel launch time",
    "========= Invalid __global__ read of size",
    "========= Program hit cudaError",
    "========= ERROR SUMMARY: 0 errors",
    "Traceback (most recent call last):"};
constexpr std::array<std::string_view, 4> kErrorTexts{"device-side assert triggered",
                                                      "an illegal memory access was encountered",
                                                      "unspecified launch failure", "misaligned address"};

bool is_cut_short(std::string_view s, std::string_view whole) {
  constexpr std::size_t kShortest = 4;
  s = trimmed(s);
  if (s.find_first_not_of('=') == std::string_view::npos) return false;  // a rule, or a sanitizer's empty line
  return s.size() >= kShortest && s.size() < whole.size() && whole.starts_with(s);
}

// "...", "[..]", "... [1,204 lines omitted] ...", "<snip>", "(output truncated)".
bool is_elision(std::string_view line) {
  constexpr std::size_t kLongest = 100;
  const std::string_view s = trimmed(line);
  if (s.empty() || s.size() > kLongest) return false;
  if (s.size() >= 3 && s.find_first_not_of(".[]<>()… ") == std::string_view::npos && contains(s, "..")) return true;
  if (s == "…" || s == "[…]") return true;
  const bool marked = s.find_first_of("[(<.*-") == 0 || s.starts_with("…");
  if (!marked) return false;
  constexpr std::array<std::string_view, 8> kWords{"omitted", "truncated", "snip",    "skipped",
                                                   "elided",  "lines cut", "trimmed", "many more"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return contains(s, word); });
}

std::string_view last_line(const LogText& log) {
  for (auto line = log.lines.rbegin(); line != log.lines.rend(); ++line) {
    if (!trimmed(*line).empty()) return *line;
  }
  return {};
}

// "=========     by thread (64,"
bool is_cut_tool_line(std::string_view s) {
  return contains(s, "========= ") && contains(s, "by thread (") &&
         std::ranges::count(s, '(') > std::ranges::count(s, ')');
}

bool ends_early(std::string_view last) {
  if (is_cut_tool_line(last)) return true;
  if (std::ranges::any_of(kEndings, [&](std::string_view whole) { return is_cut_short(last, whole); })) return true;
  const std::size_t at = last.rfind("CUDA error: ");
  if (at == std::string_view::npos) return false;
  const std::string_view text = last.substr(at + std::string_view("CUDA error: ").size());
  return std::ranges::any_of(kErrorTexts, [&](std::string_view whole) { return is_cut_short(text, whole); });
}

// The last traceback that was opened has frames and no line that ends it.
bool traceback_is_open(const LogText& log) {
  bool open = false, frames = false;
  for (const std::string& line : log.lines) {
    if (contains(line, "Traceback (most recent call last):")) {
      open = true;
      frames = false;
    } else if (open && line.starts_with("  File \"")) {
      frames = true;
    } else if (open && frames && !line.empty() && line.front() != ' ') {
      open = false;
    }
  }
  return open && frames;
}

bool report_is_short(const AssertReading& asserts) {
  constexpr std::int64_t kPrintedAtMost = 10;
  return std::ranges::any_of(asserts.devices,
                             [&](const DsaDevice& d) { return d.printed < std::min(d.reported, kPrintedAtMost); });
}

bool document_is_open(const LogText& log) {
  bool open = false;
  for (const std::string& line : log.lines) {
    if (contains(line, "<ComputeSanitizerOutput>")) open = true;
    if (contains(line, "</ComputeSanitizerOutput>")) open = false;
  }
  return open;
}

bool has_line(const LogText& log, std::size_t from, const auto& texts) {
  for (std::size_t i = from; i < log.lines.size(); ++i) {
    for (std::string_view text : texts) {
      if (!text.empty() && contains(log.lines[i], text)) return true;
    }
  }
  return false;
}

}  // namespace

bool is_truncated(const LogText& log, const LogReading& reading) {
  if (reading.environment.cut || reading.asserts.spoiled > 0 || report_is_short(reading.asserts)) return true;
  if (ends_early(last_line(log)) || traceback_is_open(log) || document_is_open(log)) return true;
  // Dots alone stand in many programs' output; in a log without a fault they say nothing.
  return reading.kind != LogKind::none && std::ranges::any_of(log.lines, is_elision);
}

std::optional<bool> may_be_late(const LogText& log, const LogReading& reading) {
  if (!reading.error || reading.error->from_tool) return std::nullopt;
  const bool device_error = reading.error->code ? is_sticky(*reading.error->code) : !reading.error->name.empty();
  const bool old_assert = fault_word(*reading.error) == "device_assert";
  if (!device_error && !old_assert) return std::nullopt;
  const bool has_frames = !reading.frames.python.empty() || !reading.frames.cpp.empty() || reading.earliest_user;
  if (reading.kind == LogKind::device_assert && !has_frames) return std::nullopt;
  if (has_line(log, reading.error->log_line, kAsync)) return true;
  return !has_line(log, reading.error->log_line, kAfterError);
}

}  // namespace dsafuzz
