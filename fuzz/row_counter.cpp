#include "fuzz/row_counter.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace dsafuzz {

RowCounter::RowCounter(std::string doing, std::string things)
    : doing_(std::move(doing)), things_(std::move(things)), terminal_(isatty(STDERR_FILENO) != 0) {}

void RowCounter::show(std::size_t done, std::size_t all) {
  const auto now = Clock::now();
  const bool due = now - last_ > (terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10'000));
  const bool over = done == all && terminal_;
  if (!due && !over) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double left = seconds * static_cast<double>(all - done) / static_cast<double>(done);
  std::fprintf(stderr, "%s%s: %zu of %zu %s, %.0f s left%s", terminal_ ? "\r\033[K" : "", doing_.c_str(), done, all,
               things_.c_str(), left, terminal_ && !over ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace dsafuzz
