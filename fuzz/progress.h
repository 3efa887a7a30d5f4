// Tells a person how a campaign is going: one line that rewrites itself on a terminal, one plain line every ten seconds
// elsewhere, and lasting lines for what must not be overwritten.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

namespace dsafuzz {

struct ProgressFacts {
  std::string doing;  // "fuzzing", "examining", "stopping"
  std::uint64_t executions = 0;
  double per_second = 0;
  std::uint64_t features = 0;
  std::uint64_t findings = 0;
  std::uint64_t candidates = 0;  // waiting
  std::uint64_t engines = 0;     // running
  std::uint64_t restarts = 0;
  std::optional<double> seconds_left;
  std::optional<std::uint64_t> runs_left;
};
// "fuzzing  12.3k runs, 1.2k/s | 431 features | 2 findings, 1 to examine | 4 engines | 0:48 left"
std::string progress_line(const ProgressFacts& facts);

// "1 engine", "2 engines"
std::string counted(std::uint64_t n, const std::string& noun);
// Three digits and a unit: 999, 1.2k, 34k, 1.2M.
std::string short_number(double n);
// "0:48", "12:05:00"; what is negative counts as none.
std::string clock_time(double seconds);

// A line that is rewritten on a terminal, and printed now and then elsewhere.
class StatusLine {
 public:
  // `file` null: says nothing. It outlives this.
  StatusLine(std::FILE* file, bool terminal) : file_(file), terminal_(terminal) {}
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  bool is_terminal() const { return terminal_; }
  // It is time for show(): every 0.2 s on a terminal, at once at first; every 10 s elsewhere.
  bool is_due();
  void show(const std::string& line);
  void say(const std::string& line);  // a line that stays; without its newline

 private:
  void clear();

  std::FILE* file_;
  bool terminal_, line_shown_ = false;
  std::optional<std::chrono::steady_clock::time_point> last_;
};

class Progress {
 public:
  // `file` null: says nothing. It outlives this.
  Progress(std::FILE* file, bool terminal) : line_(file, terminal) {}

  void show(const ProgressFacts& facts);                  // may be called often
  void say(const std::string& line) { line_.say(line); }  // a line that stays; without its newline

 private:
  StatusLine line_;
};

}  // namespace dsafuzz
