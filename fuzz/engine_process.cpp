#include "fuzz/engine_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

extern char** environ;

namespace dsafuzz {
namespace {
constexpr int kStatusFd = 3;
constexpr std::size_t kLongestLine = 1 << 16;
}  // namespace

Result<EngineProcess> EngineProcess::start(const std::string& program, EngineOptions options, const std::string& log) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return environment_problem("cannot make a pipe");
  options.status_fd = kStatusFd;
  options.parent = static_cast<std::uint64_t>(::getpid());
  std::vector<std::string> arguments = to_arguments(options);
  arguments.insert(arguments.begin(), {"dsafuzz", "engine"});
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], kStatusFd);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&usual, signal);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  // A pipe end that is already number 3 would keep its close-on-exec flag through dup2.
  if (ends[1] == kStatusFd) ::fcntl(ends[1], F_SETFD, 0);
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    return environment_problem(std::string("cannot start an engine: ") + std::strerror(error), program);
  }
  return EngineProcess(std::move(options), pid, ends[0]);
}

EngineProcess::EngineProcess(EngineProcess&& other) noexcept
    : options_(std::move(other.options_)),
      pid_(std::exchange(other.pid_, -1)),
      status_fd_(std::exchange(other.status_fd_, -1)),
      partial_(std::move(other.partial_)),
      status_(std::move(other.status_)),
      ended_(other.ended_) {}

EngineProcess::~EngineProcess() {
  if (pid_ > 0 && !ended()) {
    kill();
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  if (status_fd_ >= 0) ::close(status_fd_);
}

const EngineStatus& EngineProcess::status() {
  std::array<char, 4096> buffer;
  ssize_t got = 0;
  while ((got = ::read(status_fd_, buffer.data(), buffer.size())) > 0) {
    partial_.append(buffer.data(), static_cast<std::size_t>(got));
    std::size_t end = 0;
    while ((end = partial_.find('\n')) != std::string::npos) {
      if (auto status = parse_status(std::string_view(partial_).substr(0, end))) status_ = std::move(*status);
      partial_.erase(0, end + 1);
    }
    if (partial_.size() > kLongestLine) partial_.clear();
  }
  return status_;
}

std::optional<int> EngineProcess::ended() {
  int status = 0;
  if (!ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    ended_ = status;
    this->status();
  }
  return ended_;
}

void EngineProcess::ask_to_stop() const {
  if (pid_ > 0 && !ended_) ::kill(pid_, SIGTERM);
}

void EngineProcess::kill() const {
  if (pid_ > 0 && !ended_) ::kill(pid_, SIGKILL);
}

}  // namespace dsafuzz
