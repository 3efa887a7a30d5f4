// One direction of the talk between supervisor and worker: a number in shared memory that one side raises and the other
// watches for a moment before it sleeps on the socket. Most cases take less than the moment, and a system call or two
// would cost more than the case; a process that is busy elsewhere, or dead, is met by the socket as ever.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace dsafuzz {

// In shared memory, zero at the start. One process rings, the other waits.
class Doorbell {
 public:
  // Raises the number. True: the other side sleeps, and must be sent a message. Requires: `number` grows.
  bool ring(std::uint64_t number) {
    number_.store(number);
    return asleep_.load();
  }

  // Watches until the number is at least `wanted`, at most for `moment`; true when it is.
  bool watch(std::uint64_t wanted, std::chrono::nanoseconds moment) const {
    const auto until = std::chrono::steady_clock::now() + moment;
    do {
      for (int i = 0; i < 64; ++i) {
        if (number_.load(std::memory_order_acquire) >= wanted) return true;
        __builtin_ia32_pause();
      }
    } while (std::chrono::steady_clock::now() < until);
    return false;
  }

  // Says that a message is needed from now on. True: go to sleep. False: the number is there already.
  // Either the ringer sees the sleeper or the sleeper sees the number: both accesses are sequentially consistent.
  bool fall_asleep(std::uint64_t wanted) {
    asleep_.store(true);
    if (number_.load() < wanted) return true;
    asleep_.store(false);
    return false;
  }
  void wake_up() { asleep_.store(false); }

  std::uint64_t number() const { return number_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> number_{0};
  std::atomic<bool> asleep_{false};
};

// How long either side watches: longer than a short case, shorter than anyone minds. Nothing where there is one core,
// since watching would keep the other side from running.
std::chrono::nanoseconds watching_moment();

}  // namespace dsafuzz
