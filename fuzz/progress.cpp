#include "fuzz/progress.h"

#include <array>

namespace dsafuzz {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

std::string counted(std::uint64_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string short_number(double n) {
  std::array<char, 32> text;
  const char* unit = "";
  if (n >= 1e6) {
    n /= 1e6;
    unit = "M";
  } else if (n >= 1e3) {
    n /= 1e3;
    unit = "k";
  }
  std::snprintf(text.data(), text.size(), n < 9.95 && *unit ? "%.1f%s" : "%.0f%s", n, unit);
  return text.data();
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds < 0 ? 0 : seconds);
  std::array<char, 48> text;
  if (whole >= 3600) {
    std::snprintf(text.data(), text.size(), "%llu:%02llu:%02llu", static_cast<unsigned long long>(whole / 3600),
                  static_cast<unsigned long long>(whole / 60 % 60), static_cast<unsigned long long>(whole % 60));
  } else {
    std::snprintf(text.data(), text.size(), "%llu:%02llu", static_cast<unsigned long long>(whole / 60),
                  static_cast<unsigned long long>(whole % 60));
  }
  return text.data();
}

std::string progress_line(const ProgressFacts& f) {
  std::string line = f.doing + "  " + short_number(static_cast<double>(f.executions)) + " runs, " +
                     short_number(f.per_second) + "/s | " + counted(f.features, "feature") + " | " +
                     counted(f.findings, "finding");
  if (f.candidates > 0) line += ", " + std::to_string(f.candidates) + " to examine";
  line += " | " + counted(f.engines, "engine");
  if (f.restarts > 0) line += ", " + counted(f.restarts, "restart");
  if (f.seconds_left) line += " | " + clock_time(*f.seconds_left) + " left";
  if (f.runs_left) line += " | " + short_number(static_cast<double>(*f.runs_left)) + " runs left";
  return line;
}

void Progress::show(const ProgressFacts& facts) {
  if (line_.is_due()) line_.show(progress_line(facts));
}

bool StatusLine::is_due() {
  if (!file_) return false;
  const auto now = Clock::now();
  const auto pause = terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10'000);
  if (!last_) {
    last_ = now;
    return terminal_;
  }
  if (now - *last_ < pause) return false;
  last_ = now;
  return true;
}

void StatusLine::show(const std::string& line) {
  if (!file_) return;
  if (terminal_) {
    // Cut to a narrow terminal's width: a wrapped line could not be rewritten.
    std::fprintf(file_, "\r\033[K%s", line.substr(0, 118).c_str());
    line_shown_ = true;
  } else {
    std::fprintf(file_, "%s\n", line.c_str());
  }
  std::fflush(file_);
}

void StatusLine::say(const std::string& line) {
  if (!file_) return;
  clear();
  std::fprintf(file_, "%s\n", line.c_str());
  std::fflush(file_);
}

void StatusLine::clear() {
  if (file_ && line_shown_) std::fprintf(file_, "\r\033[K");
  line_shown_ = false;
}

}  // namespace dsafuzz
