// See crew.h.
#include "kernels/vcuda/crew.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

namespace vcuda {
namespace {

constexpr int kMostCores = 64;

class Crew {
 public:
  // As many as can be had.
  explicit Crew(unsigned helpers) {
    for (; helpers_ < helpers; ++helpers_) {
      try {
        std::thread([this] { help(); }).detach();
      } catch (const std::system_error&) {
        return;
      }
    }
  }

  void run(std::uint64_t pieces, const std::function<void(std::uint64_t)>& work) {
    {
      const std::lock_guard held(lock_);
      work_ = &work;
      pieces_ = pieces;
      next_.store(0, std::memory_order_relaxed);
      busy_ = helpers_;
      ++round_;
    }
    start_.notify_all();
    take_pieces();
    std::unique_lock held(lock_);
    done_.wait(held, [&] { return busy_ == 0; });
  }

 private:
  void take_pieces() {
    for (;;) {
      const std::uint64_t piece = next_.fetch_add(1, std::memory_order_relaxed);
      if (piece >= pieces_) return;
      (*work_)(piece);
    }
  }

  [[noreturn]] void help() {
    std::unique_lock held(lock_);
    for (std::uint64_t seen = 0;;) {
      start_.wait(held, [&] { return round_ != seen; });
      seen = round_;
      held.unlock();
      take_pieces();
      held.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex lock_;
  std::condition_variable start_, done_;
  unsigned helpers_ = 0, busy_ = 0;
  std::uint64_t round_ = 0, pieces_ = 0;
  const std::function<void(std::uint64_t)>* work_ = nullptr;
  std::atomic<std::uint64_t> next_ = 0;
};

// Never destroyed: its threads end with the process, and in a forked process they do not exist.
Crew& crew(unsigned helpers) {
  static Crew* only = nullptr;
  static pid_t owner = 0;
  if (owner != getpid()) {
    only = new Crew(helpers);
    owner = getpid();
  }
  return *only;
}

}  // namespace

unsigned core_count() {
  static const unsigned count = [] {
    cpu_set_t set;
    const int found = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return static_cast<unsigned>(std::clamp(found, 1, kMostCores));
  }();
  return count;
}

void run_on_cores(unsigned cores, std::uint64_t pieces, const std::function<void(std::uint64_t)>& work) {
  crew(cores - 1).run(pieces, work);
}

}  // namespace vcuda
