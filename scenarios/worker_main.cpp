// dsafuzz-worker: runs cases on one device and decides nothing. Started by the supervisor as a zygote: it loads
// LibTorch, runs no case, and forks workers on request, so a dead worker costs a fork and not a start. CUDA must not be
// forked once it has started: its libraries are loaded here, as by `import torch`, and each fork starts it for itself.
#include <ATen/ATen.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "kernels/vcuda/coverage.h"
#include "kernels/vcuda/runtime.h"
#include "repro/outcome_bytes.h"
#include "repro/protocol.h"
#include "scenarios/gpu_counters.h"
#include "scenarios/module_step.h"
#include "scenarios/operator_call.h"
#include "scenarios/operator_features.h"
#include "scenarios/program.h"

namespace dsafuzz {
namespace {

struct WorkerOptions {
  Device device;
  std::uint64_t memory_bytes = 0;  // beyond what the process has at its start; 0: no limit
  std::uint64_t output_bytes = 0;  // 0: no limit
};

bool send_message(int socket, const Message& message) {
  return send(socket, &message, sizeof message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof message);
}

// What the kernel counts against RLIMIT_AS, and what against RLIMIT_DATA.
struct MemoryInUse {
  std::uint64_t address_space = 0, data = 0;
};

MemoryInUse memory_in_use() {
  std::uint64_t size = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
  std::ifstream("/proc/self/statm") >> size >> resident >> shared >> text >> library >> data;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return {size * page, data * page};
}

void limit_resources(const WorkerOptions& options) {
  const auto set = [](int resource, std::uint64_t value) {
    const rlimit limit{value, value};
    setrlimit(resource, &limit);
  };
  set(RLIMIT_CORE, 0);
  // A file that is full answers EFBIG: the text is cut, the case goes on.
  signal(SIGXFSZ, SIG_IGN);
  if (options.output_bytes) set(RLIMIT_FSIZE, options.output_bytes);
  if (options.memory_bytes == 0) return;
  // CUDA reserves addresses for all memory of the host and of every GPU: there only what is written to counts.
  if (options.device.kind == Device::Kind::cuda) {
    set(RLIMIT_DATA, memory_in_use().data + options.memory_bytes);
  } else {
    set(RLIMIT_AS, memory_in_use().address_space + options.memory_bytes);
  }
}

// CUDA's operators live in a library that machines without a GPU need not be able to load; our own operators for CUDA
// in one that only exists where nvcc was. A case that needs a missing one says so when it runs. Kernels of ours that
// are to run in the place of ATen's must be there: false without them, since nobody would see whose kernels ran.
bool load_cuda(bool own_kernels) {
  for (const char* library : {"libtorch_cuda.so", "libdsafuzz_cuda.so"}) {
    if (!dlopen(library, RTLD_NOW | RTLD_GLOBAL)) std::fprintf(stderr, "dsafuzz-worker: %s\n", dlerror());
  }
  if (!own_kernels || dlopen("libdsafuzz_kernels_on_cuda.so", RTLD_NOW | RTLD_LOCAL)) return true;
  std::fprintf(stderr, "dsafuzz-worker: no kernels of dsafuzz's own for a GPU: %s\n", dlerror());
  return false;
}

// Waits for a case after `number` and sets it to the case's; false when the supervisor is gone.
bool next_request(int socket, SharedPage& page, std::uint64_t& number) {
  const std::uint64_t wanted = number + 1;
  if (!page.request.watch(wanted, watching_moment()) && page.request.fall_asleep(wanted)) {
    Message message;
    while (page.request.number() < wanted) {
      if (recv(socket, &message, sizeof message, 0) != static_cast<ssize_t>(sizeof message)) return false;
    }
    page.request.wake_up();
  }
  number = page.request.number();
  return true;
}

void write_outcome(Outcome outcome, SharedPage& page) {
  auto bytes = encode(outcome);
  if (bytes.size() > kOutcomeBytesLimit) {
    outcome.results.clear();
    outcome.sites.clear();
    outcome.error.resize(std::min<std::size_t>(outcome.error.size(), 4096));
    bytes = encode(outcome);
  }
  std::memcpy(page.outcome_bytes, bytes.data(), bytes.size());
  page.outcome_length = static_cast<std::uint32_t>(bytes.size());
}

// Serves one supervisor until its socket closes. Never returns to the zygote's code.
[[noreturn]] void serve(const WorkerOptions& options, int socket, SharedPage& page) {
  Program program(options.device);
  // The dearest part of CUDA's start: a spare has it behind it before it is needed.
  if (options.device.kind == Device::Kind::cuda) program.warm_up();
  limit_resources(options);
  const auto versions = Program::versions(options.device);
  Outcome first;
  first.versions = versions;
  write_outcome(std::move(first), page);
  send_message(socket, {.kind = Message::Kind::ready, .pid = getpid()});
  GpuCounters gpu_counters;
  std::uint64_t number = 0;
  while (next_request(socket, page, number)) {
    Outcome outcome;
    const auto c = decode_case({page.case_bytes, std::min<std::size_t>(page.case_length, kCaseBytesLimit)});
    if (c) {
      // Runs of a search want no results.
      if (options.device.kind == Device::Kind::cuda && !page.wants_results) {
        const std::string problem = gpu_counters.start();
        if (!problem.empty()) std::fprintf(stderr, "dsafuzz-worker: kernels go uncounted: %s\n", problem.c_str());
      }
      set_feature_map({page.features, sizeof page.features});
      outcome =
          program.run(*c, [&](int step) { page.step.store(step, std::memory_order_relaxed); }, page.wants_results);
      vcuda::collect_counters();
      gpu_counters.collect();
      if (page.wants_results) {
        for (const vcuda::AssertSite& site : vcuda::reached_sites()) {
          outcome.sites.push_back({site.file, site.line, site.function, site.condition});
        }
      }
      set_feature_map({});
    } else {
      outcome.end = Outcome::End::not_run;
      outcome.error = c.error().text();
    }
    if (page.wants_results || outcome.end != Outcome::End::returned) outcome.versions = versions;
    // An exception may leave the device's context poisoned: a virtual one is made anew, a real one ends the process.
    if (outcome.end == Outcome::End::threw && options.device.kind == Device::Kind::vcuda) {
      forget_modules();
      vcuda::reset_contexts();
    }
    const bool last = program.device_lost();
    std::fflush(nullptr);
    write_outcome(std::move(outcome), page);
    page.worker_ends = last;
    if (page.answer.ring(number) && !send_message(socket, {.kind = Message::Kind::done})) break;
    if (last) break;
  }
  // LibTorch's and CUDA's exit handlers may hang after a fault.
  _exit(0);
}

[[noreturn]] void become_worker(const WorkerOptions& options, int control, int signals, const WorkerDescriptors& fds,
                                pid_t zygote) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != zygote) _exit(0);
  close(control);
  close(signals);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(fds[2], STDOUT_FILENO);
  dup2(fds[2], STDERR_FILENO);
  close(fds[2]);
  void* page = mmap(nullptr, sizeof(SharedPage), PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
  if (page == MAP_FAILED) _exit(3);
  close(fds[1]);
  serve(options, fds[0], *static_cast<SharedPage*>(page));
}

int run_zygote(const WorkerOptions& options, int control) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, nullptr);
  const int signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  const bool cuda = options.device.kind == Device::Kind::cuda;
  if (cuda && !load_cuda(options.device.own_kernels)) return 3;
  observe_operators();
  index_operators();
  Program(cuda ? Device{Device::Kind::cpu} : options.device).warm_up();
  if (!cuda) {
    // The virtual devices' memory is reserved here, before workers limit their address space.
    void* first = nullptr;
    if (vcuda::allocate(&first, 1) == vcuda::Error::none) vcuda::deallocate(first);
    vcuda::reset_contexts();
  }
  send_message(control, {.kind = Message::Kind::ready, .pid = getpid()});
  const pid_t self = getpid();
  for (;;) {
    pollfd wait[2]{{control, POLLIN, 0}, {signals, POLLIN, 0}};
    if (poll(wait, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return 3;
    }
    if (wait[1].revents) {
      signalfd_siginfo info;
      while (read(signals, &info, sizeof info) > 0) {
      }
      int status = 0;
      for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        send_message(control, {.kind = Message::Kind::died, .pid = pid, .status = status});
      }
    }
    if (wait[0].revents) {
      WorkerDescriptors fds;
      if (!receive_fork(control, fds)) return 0;
      const pid_t pid = fork();
      if (pid == 0) become_worker(options, control, signals, fds, self);
      for (const int fd : fds) close(fd);
      send_message(control, {.kind = Message::Kind::forked, .pid = pid});
    }
  }
}

}  // namespace
}  // namespace dsafuzz

int main(int argc, char** argv) {
  CLI::App app("Runs dsafuzz cases on one device. Started by dsafuzz; it is of no use alone.");
  std::string device = "vcuda", modules;
  int control = dsafuzz::kControlDescriptor;
  dsafuzz::WorkerOptions options;
  app.add_option("--device", device, "cpu, vcuda[:N] or cuda:N[:own]");
  app.add_option("--modules", modules, "folder of TorchScript files");
  app.add_option("--control", control, "descriptor of the supervisor's socket");
  app.add_option("--memory-bytes", options.memory_bytes);
  app.add_option("--output-bytes", options.output_bytes);
  CLI11_PARSE(app, argc, argv);
  const auto parsed = dsafuzz::parse_device(device);
  if (!parsed) {
    std::fprintf(stderr, "dsafuzz-worker: %s\n", parsed.error().text().c_str());
    return parsed.error().exit_code();
  }
  options.device = *parsed;
  int kind = 0;
  socklen_t size = sizeof kind;
  if (getsockopt(control, SOL_SOCKET, SO_TYPE, &kind, &size) != 0 || kind != SOCK_SEQPACKET) {
    std::fprintf(stderr, "dsafuzz-worker: no supervisor at descriptor %d; start dsafuzz instead\n", control);
    return 2;
  }
  dsafuzz::set_module_folder(modules);
  return dsafuzz::run_zygote(options, control);
}
