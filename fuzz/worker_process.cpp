#include "fuzz/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <vector>

extern char** environ;

namespace dsafuzz {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::unexpected<Problem> system_problem(const std::string& what) {
  return environment_problem(what + ": " + std::strerror(errno));
}

// An anonymous file for a worker's output; appended to, so that emptying it between cases is safe.
int output_file() {
  const int fd = memfd_create("dsafuzz-output", MFD_CLOEXEC);
  if (fd >= 0) fcntl(fd, F_SETFL, O_APPEND);
  return fd;
}

std::string tail_of(int fd) {
  char buffer[600];
  const off_t size = lseek(fd, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(sizeof buffer));
  const ssize_t n = pread(fd, buffer, sizeof buffer, from);
  return n > 0 ? std::string(buffer, static_cast<std::size_t>(n)) : std::string();
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

WorkerProcess::~WorkerProcess() {
  if (pid > 0) kill(-pid, SIGKILL);
  if (page) munmap(page, sizeof(SharedPage));
}

Received receive(int socket, Message& message, milliseconds limit) {
  const auto deadline = steady_clock::now() + limit;
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
    pollfd wait{socket, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(0, left)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Received::late;
    const ssize_t n = recv(socket, &message, sizeof message, 0);
    if (n < 0 && errno == EINTR) continue;
    return n == static_cast<ssize_t>(sizeof message) ? Received::message : Received::closed;
  }
}

Result<std::unique_ptr<Zygote>> Zygote::start(const std::string& worker, const RunSettings& settings) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return system_problem("no socket");
  std::unique_ptr<Zygote> zygote(new Zygote());
  zygote->control_ = Descriptor(ends[0]);
  Descriptor theirs(ends[1]);
  const Descriptor output(output_file());
  if (output.get() < 0) return system_problem("no file for the worker's output");

  std::vector<std::string> words{worker,
                                 "--device",
                                 settings.device.text(),
                                 "--control",
                                 std::to_string(kControlDescriptor),
                                 "--memory-bytes",
                                 std::to_string(settings.memory_bytes),
                                 "--output-bytes",
                                 std::to_string(settings.output_bytes)};
  if (!settings.modules.empty()) words.insert(words.end(), {"--modules", settings.modules});
  std::vector<std::string> variables = environment_of(settings, environ);
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
  };

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.get(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), kControlDescriptor);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  auto argv = pointers(words);
  auto envp = pointers(variables);
  const int error = posix_spawn(&zygote->pid_, worker.c_str(), &actions, &attributes, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    zygote->pid_ = 0;
    return environment_problem("the worker cannot be started: " + std::string(std::strerror(error)), worker,
                               "build it: cmake --build --preset dev");
  }
  theirs = Descriptor();  // closed here, so that its death is seen as end of file
  Message message;
  switch (receive(zygote->control_.get(), message, settings.start_limit)) {
    case Received::message: return zygote;
    case Received::closed:
      return environment_problem("the worker ended at its start: " + tail_of(output.get()), worker);
    case Received::late:
      return environment_problem("the worker was not ready after " + std::to_string(settings.start_limit.count()) +
                                     " ms: " + tail_of(output.get()),
                                 worker);
  }
  std::unreachable();
}

Zygote::~Zygote() {
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

std::optional<Message> Zygote::next_message(milliseconds limit) {
  Message message;
  while (receive(control_.get(), message, limit) == Received::message) {
    if (message.kind != Message::Kind::died) return message;
    deaths_[message.pid] = message.status;
  }
  return std::nullopt;
}

Result<std::unique_ptr<WorkerProcess>> Zygote::fork_worker() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return system_problem("no socket");
  auto worker = std::make_unique<WorkerProcess>();
  worker->socket = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  worker->log = Descriptor(output_file());
  const Descriptor memory(memfd_create("dsafuzz-page", MFD_CLOEXEC));
  if (worker->log.get() < 0 || memory.get() < 0 || ftruncate(memory.get(), sizeof(SharedPage)) != 0)
    return system_problem("no shared memory");
  void* page = mmap(nullptr, sizeof(SharedPage), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (page == MAP_FAILED) return system_problem("no shared memory");
  // The fresh file is all zeros; only the members that are not zero at the start are written, so its pages stay
  // untouched.
  worker->page = static_cast<SharedPage*>(page);
  worker->page->version = kProtocolVersion;
  worker->page->step.store(-1);

  if (!send_fork(control_.get(), {theirs.get(), memory.get(), worker->log.get()}))
    return system_problem("the zygote is gone");
  const auto answer = next_message(milliseconds(10'000));
  if (!answer || answer->pid <= 0) return environment_problem("the zygote cannot fork a worker");
  worker->pid = answer->pid;
  return worker;
}

std::optional<int> Zygote::wait_status(pid_t worker, milliseconds limit) {
  const auto deadline = steady_clock::now() + limit;
  for (;;) {
    if (const auto found = deaths_.find(worker); found != deaths_.end()) {
      const int status = found->second;
      deaths_.erase(found);
      return status;
    }
    Message message;
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0 || receive(control_.get(), message, left) != Received::message) return std::nullopt;
    if (message.kind == Message::Kind::died) deaths_[message.pid] = message.status;
  }
}

}  // namespace dsafuzz
