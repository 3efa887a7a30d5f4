// The worker program of worker_pool_test; see fake_worker.h. It is built under dsafuzz-worker's name, beside the test.
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "fake_worker.h"
#include "repro/case_bytes.h"
#include "repro/outcome_bytes.h"
#include "repro/protocol.h"

namespace dsafuzz {
namespace {

void tell(int socket, const Message& message) { send(socket, &message, sizeof message, MSG_NOSIGNAL); }

void write_outcome(const Outcome& outcome, SharedPage& page) {
  const auto bytes = encode(outcome);
  std::memcpy(page.outcome_bytes, bytes.data(), bytes.size());
  page.outcome_length = static_cast<std::uint32_t>(bytes.size());
}

// It sleeps on its socket and never watches the doorbell, which costs time and nothing else.
void wait_for(int socket, SharedPage& page, std::uint64_t number) {
  Message message;
  while (page.request.fall_asleep(number)) {
    if (recv(socket, &message, sizeof message, 0) != static_cast<ssize_t>(sizeof message)) _exit(0);
    page.request.wake_up();
  }
}

[[noreturn]] void serve(int socket, SharedPage& page) {
  std::this_thread::sleep_for(kFakeStart);
  Outcome first;
  first.versions["torch"] = "fake";
  write_outcome(first, page);
  tell(socket, {.kind = Message::Kind::ready, .pid = getpid()});
  std::uint64_t number = 0;
  for (int cases = 1;; ++cases) {
    wait_for(socket, page, number + 1);
    number = page.request.number();
    const auto c = decode_case({page.case_bytes, page.case_length});
    if (!c) _exit(4);
    std::printf("case %d of process %d\n", cases, getpid());
    std::fflush(stdout);
    page.step.store(0);
    if (c->scenario == kDies) std::raise(SIGSEGV);
    const bool lost = c->scenario == kLost || c->scenario == kLingers;
    Outcome outcome;
    outcome.end = lost || c->scenario == kThrows ? Outcome::End::threw : Outcome::End::returned;
    outcome.error = std::to_string(getpid()) + " " + std::to_string(cases);
    write_outcome(outcome, page);
    page.worker_ends = lost;
    if (page.answer.ring(number)) tell(socket, {.kind = Message::Kind::done});
    if (c->scenario == kLost) _exit(0);
    if (c->scenario == kLingers) pause();
  }
}

void fork_worker(int control) {
  WorkerDescriptors fds;
  if (!receive_fork(control, fds)) _exit(0);
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    close(control);
    dup2(fds[2], STDOUT_FILENO);
    void* page = mmap(nullptr, sizeof(SharedPage), PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
    if (page == MAP_FAILED) _exit(3);
    serve(fds[0], *static_cast<SharedPage*>(page));
  }
  for (const int fd : fds) close(fd);
  tell(control, {.kind = Message::Kind::forked, .pid = pid});
}

// Deaths are looked for every few milliseconds, which needs no signals.
[[noreturn]] void run_zygote(int control) {
  constexpr int kLookMs = 5;
  tell(control, {.kind = Message::Kind::ready, .pid = getpid()});
  for (;;) {
    pollfd wait{control, POLLIN, 0};
    if (poll(&wait, 1, kLookMs) > 0) fork_worker(control);
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      tell(control, {.kind = Message::Kind::died, .pid = pid, .status = status});
    }
  }
}

}  // namespace
}  // namespace dsafuzz

int main() { dsafuzz::run_zygote(dsafuzz::kControlDescriptor); }
