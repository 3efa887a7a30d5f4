// Progress of work whose amount is known, on standard error.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "fuzz/progress.h"

namespace dsafuzz {

class RowCounter {
 public:
  // "matrix: 12 of 400 rows, 8 s left"
  RowCounter(std::string doing, std::string things);
  void show(std::size_t done, std::size_t all);  // done > 0

 private:
  std::string doing_, things_;
  StatusLine line_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace dsafuzz
