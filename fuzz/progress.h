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

class Progress {
 public:
  // `file` null: says nothing. It outlives this.
  Progress(std::FILE* file, bool terminal) : file_(file), terminal_(terminal) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const ProgressFacts& facts);  // may be called often
  void say(const std::string& line);      // a line that stays; without its newline

 private:
  void clear();

  std::FILE* file_;
  bool terminal_, line_shown_ = false;
  std::optional<std::chrono::steady_clock::time_point> last_;
};

}  // namespace dsafuzz
