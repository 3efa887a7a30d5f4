#include "fuzz/stop_request.h"

#include <unistd.h>

namespace dsafuzz {
namespace {

std::atomic<bool> stop_asked{false};

void ask(int) {
  // The engines and workers are killed by the kernel when this process ends; candidates are on disk.
  if (stop_asked.exchange(true)) ::_exit(130);
}

}  // namespace

StopRequest::StopRequest() {
  stop_asked = false;
  struct sigaction action {};
  action.sa_handler = ask;
  ::sigaction(SIGINT, &action, &before_int_);
  ::sigaction(SIGTERM, &action, &before_term_);
}

StopRequest::~StopRequest() {
  ::sigaction(SIGINT, &before_int_, nullptr);
  ::sigaction(SIGTERM, &before_term_, nullptr);
}

const std::atomic<bool>& StopRequest::asked() const { return stop_asked; }

}  // namespace dsafuzz
