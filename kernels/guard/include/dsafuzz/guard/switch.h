// Whether the guard checks at all. Switched off, a check costs one branch on a flag.
#pragma once

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace dsafuzz::guard {

namespace detail {
inline std::atomic<bool>& enabled_flag() {
  // DSAFUZZ_GUARD=0 in the environment, read once.
  static std::atomic<bool> flag{[] {
    const char* word = std::getenv("DSAFUZZ_GUARD");
    return word == nullptr || std::strcmp(word, "0") != 0;
  }()};
  return flag;
}
}  // namespace detail

// On unless the environment holds DSAFUZZ_GUARD=0 or set_enabled(false) was called later.
inline bool enabled() { return detail::enabled_flag().load(std::memory_order_relaxed); }
inline void set_enabled(bool on) { detail::enabled_flag().store(on, std::memory_order_relaxed); }

}  // namespace dsafuzz::guard
