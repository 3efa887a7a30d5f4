// The zygote and its workers, as seen from the supervisor: start, talk, wait, kill. Every wait has a deadline and every
// child is in a process group of its own. Descriptors close with their owner.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "repro/protocol.h"
#include "repro/result.h"
#include "repro/run_settings.h"

namespace dsafuzz {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const { return fd_; }

 private:
  int fd_;
};

// A forked worker. It is ready once its first message has come.
struct WorkerProcess {
  pid_t pid = 0;
  Descriptor socket;
  Descriptor log;  // what it prints
  SharedPage* page = nullptr;
  bool ready = false;
  int cases_run = 0;

  WorkerProcess() = default;
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();  // kills its process group
};

class Zygote {
 public:
  // Starts `worker` (the path of dsafuzz-worker) under the settings and waits until it is ready.
  // Problem: it cannot be started, or dies, or is not ready in time; its output is quoted.
  static Result<std::unique_ptr<Zygote>> start(const std::string& worker, const RunSettings& settings);
  ~Zygote();
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  // Asks for a worker and returns without waiting for it to be ready.
  Result<std::unique_ptr<WorkerProcess>> fork_worker();
  // How a worker ended, as waitpid gives it; empty if the zygote does not say in time.
  std::optional<int> wait_status(pid_t worker, std::chrono::milliseconds limit);

 private:
  Zygote() = default;
  // The next message that is not a death notice; those are remembered.
  std::optional<Message> next_message(std::chrono::milliseconds limit);

  pid_t pid_ = 0;
  Descriptor control_;
  std::map<pid_t, int> deaths_;
};

// One message from a SOCK_SEQPACKET socket. `closed` when the other end is gone, `late` at the limit.
enum class Received { message, closed, late };
Received receive(int socket, Message& message, std::chrono::milliseconds limit);

}  // namespace dsafuzz
