// Progress of work whose amount is known: one line that rewrites itself on a terminal, elsewhere one line every ten
// seconds.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace dsafuzz {

class RowCounter {
 public:
  // "matrix: 12 of 400 rows, 8 s left" on standard error.
  RowCounter(std::string doing, std::string things);
  void show(std::size_t done, std::size_t all);  // done > 0

 private:
  using Clock = std::chrono::steady_clock;
  std::string doing_, things_;
  bool terminal_;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace dsafuzz
