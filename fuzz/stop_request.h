// Ctrl-C and SIGTERM while a campaign runs: the first asks it to stop, the second ends the process.
#pragma once

#include <signal.h>

#include <atomic>

namespace dsafuzz {

// Catches SIGINT and SIGTERM for its lifetime, then restores what was there. One at a time.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  const std::atomic<bool>& asked() const;

 private:
  struct sigaction before_int_ {
  }, before_term_{};
};

}  // namespace dsafuzz
