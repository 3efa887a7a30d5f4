// One engine as a child process: started without a shell, in a process group of its own, so that Ctrl-C reaches the
// campaign first; it dies with the thread that started it. Its status lines come through a pipe.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "fuzz/engine_options.h"
#include "fuzz/engine_status.h"

namespace dsafuzz {

class EngineProcess {
 public:
  // Runs `program engine ARGUMENTS` with `options`, whose status_fd and parent are filled in. stdout and stderr go to
  // `log`. Problem: the program cannot be started.
  static Result<EngineProcess> start(const std::string& program, EngineOptions options, const std::string& log);
  EngineProcess(EngineProcess&& other) noexcept;
  EngineProcess& operator=(EngineProcess&&) = delete;
  ~EngineProcess();  // kills and reaps what is still running

  const EngineOptions& options() const { return options_; }
  int status_fd() const { return status_fd_; }
  pid_t pid() const { return pid_; }
  // Reads what has arrived, without waiting.
  const EngineStatus& status();
  // How it ended, once it has: waitpid's status.
  std::optional<int> ended();
  void ask_to_stop() const;  // SIGTERM
  void kill() const;         // SIGKILL

 private:
  EngineProcess(EngineOptions options, pid_t pid, int status_fd)
      : options_(std::move(options)), pid_(pid), status_fd_(status_fd) {}

  EngineOptions options_;
  pid_t pid_ = -1;  // -1: reaped
  int status_fd_ = -1;
  std::string partial_;  // of a line
  EngineStatus status_;
  std::optional<int> ended_;
};

}  // namespace dsafuzz
