#include "repro/doorbell.h"

#include <sched.h>

namespace dsafuzz {

std::chrono::nanoseconds watching_moment() {
  static const std::chrono::nanoseconds moment = [] {
    cpu_set_t cores;
    const bool several = sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) > 1;
    return std::chrono::nanoseconds(several ? 80'000 : 0);
  }();
  return moment;
}

}  // namespace dsafuzz
