#include "fuzz/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace dsafuzz {
namespace {

std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& a : added) replaced = replaced || a.starts_with(name);
    if (!replaced) out.emplace_back(text);
  }
  out.insert(out.end(), added.begin(), added.end());
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// The child's side of the fork: calls nothing but what is safe between fork and exec. `report` closes with the exec, or
// gets the error.
[[noreturn]] void become(char* const* argv, char* const* environment, int output, int report, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execvpe(argv[0], argv, environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t n = write(report, &error, sizeof error);
  _exit(127);
}

// Starts the child with `output` as its output. Not by posix_spawn, which cannot ask the kernel to end the child with
// us; this process is small, so a fork is cheap. Returns its pid, or the error's number, negative.
pid_t start_child(std::vector<std::string> argv, std::vector<std::string> environment, int output) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return -errno;
  const auto arguments = pointers(argv), variables = pointers(environment);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) become(arguments.data(), variables.data(), output, report[1], parent);
  int error = pid < 0 ? errno : 0;
  close(report[1]);
  if (pid > 0) {
    while (read(report[0], &error, sizeof error) < 0 && errno == EINTR) {
    }
  }
  close(report[0]);
  if (error == 0) return pid;
  if (pid > 0) waitpid(pid, nullptr, 0);
  return -error;
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                      std::chrono::milliseconds limit, std::size_t output_limit) {
  return run_child_alone(argv, merged_environment(environment), limit, output_limit);
}

ChildResult run_child_alone(const std::vector<std::string>& argv, std::vector<std::string> environment,
                            std::chrono::milliseconds limit, std::size_t output_limit) {
  ChildResult result;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    result.output = std::string("no pipe: ") + std::strerror(errno);
    return result;
  }
  const pid_t pid = start_child(argv, std::move(environment), ends[1]);
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    result.output = argv[0] + " cannot be started: " + std::strerror(-pid);
    return result;
  }
  result.started = true;
  const int process = static_cast<int>(
      syscall(SYS_pidfd_open, pid, 0));  // negative on an old kernel, where the end of the output counts
  const auto deadline = std::chrono::steady_clock::now() + limit;
  bool output_open = true;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    // Both, for a child may close its output and go on, or end while a child of its own keeps the output.
    std::array<pollfd, 2> wait{{{output_open ? ends[0] : -1, POLLIN, 0}, {process, POLLIN, 0}}};
    const int ready = left > 0 ? poll(wait.data(), wait.size(), static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      result.timed_out = true;
      break;
    }
    if (wait[0].revents == 0) break;  // it has ended, and all it wrote is read
    char buffer[4096];
    const ssize_t n = read(ends[0], buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      if (process < 0) break;
      output_open = false;
      continue;
    }
    const std::size_t room = output_limit - std::min(output_limit, result.output.size());
    result.output.append(buffer, std::min(room, static_cast<std::size_t>(n)));
  }
  if (result.timed_out) kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  kill(-pid, SIGKILL);
  if (process >= 0) close(process);
  close(ends[0]);
  if (WIFEXITED(status)) {
    result.exit_code = WEXITSTATUS(status);
  } else if (!result.timed_out) {
    result.output += std::string("\nended by signal ") + std::to_string(WTERMSIG(status));
  }
  return result;
}

bool is_alive(std::int64_t process) {
  return process > 0 && (kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM);
}

}  // namespace dsafuzz
