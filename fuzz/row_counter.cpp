#include "fuzz/row_counter.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <utility>

namespace dsafuzz {

RowCounter::RowCounter(std::string doing, std::string things)
    : doing_(std::move(doing)), things_(std::move(things)), line_(stderr, isatty(STDERR_FILENO) != 0) {}

void RowCounter::show(std::size_t done, std::size_t all) {
  const bool over = done == all && line_.is_terminal();
  if (!line_.is_due() && !over) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double left = seconds * static_cast<double>(all - done) / static_cast<double>(done);
  const std::string text = doing_ + ": " + std::to_string(done) + " of " + std::to_string(all) + " " + things_ + ", " +
                           std::to_string(std::lround(left)) + " s left";
  over ? line_.say(text) : line_.show(text);
}

}  // namespace dsafuzz
