#include "fuzz/worker_pool.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstring>
#include <map>

#include "fuzz/worker_process.h"
#include "repro/case_bytes.h"
#include "repro/outcome_bytes.h"

namespace dsafuzz {
namespace {

using std::chrono::milliseconds;

// A worker is replaced after this many cases, so that what one case leaves behind (caches, leaks) stays bounded.
constexpr int kCasesPerWorker = 20'000;

class WorkerPool : public Executor {
 public:
  WorkerPool(std::unique_ptr<Zygote> zygote, const RunSettings& settings)
      : zygote_(std::move(zygote)), settings_(settings) {}

  Result<Outcome> run(const Case& c, std::span<std::uint8_t> features) override {
    return run_in_worker(c, features, !features.empty());
  }

  Result<Outcome> run_fresh(const Case& c) override {
    if (worker_ && worker_->cases_run > 0) worker_.reset();
    return run_in_worker(c, {}, false);
  }

  const RunSettings& settings() const override { return settings_; }
  SpareUse spares() const override { return spares_; }

 private:
  // A zygote can be killed like any process, by a system that has no memory left: another one takes over.
  Result<std::unique_ptr<WorkerProcess>> fork_worker() {
    if (auto worker = zygote_->fork_worker(); worker) return worker;
    zygote_ = DSAFUZZ_TRY(Zygote::start(worker_path(), settings_));
    return zygote_->fork_worker();
  }

  Result<void> ensure_worker() {
    if (worker_ && worker_->cases_run >= kCasesPerWorker) worker_.reset();
    const bool from_spare = !worker_ && spare_;
    if (!worker_) {
      worker_ = spare_ ? std::move(spare_) : DSAFUZZ_TRY(fork_worker());
      spare_ = DSAFUZZ_TRY(fork_worker());
    }
    if (worker_->ready) return {};
    Message message;
    Received received = Received::late;
    if (from_spare) {
      received = receive(worker_->socket.get(), message, milliseconds(0));
      ++spares_.taken;
      if (received == Received::message) ++spares_.ready;
    }
    if (received == Received::late) received = receive(worker_->socket.get(), message, settings_.start_limit);
    worker_->ready = received == Received::message;
    if (worker_->ready) {
      const auto said = decode_outcome(outcome_bytes(*worker_->page));
      if (said && versions_.empty()) versions_ = said->versions;
      return {};
    }
    const std::string said = take_log(*worker_).first;
    worker_.reset();
    return environment_problem(
        received == Received::late ? "a worker was not ready in time: " + said : "a worker ended at its start: " + said,
        settings_.device.text());
  }

  Result<Outcome> run_in_worker(const Case& c, std::span<std::uint8_t> features, bool for_search) {
    const std::vector<std::uint8_t> bytes = encode(c);
    if (bytes.size() > kCaseBytesLimit)
      return input_problem("a case of " + std::to_string(bytes.size()) + " bytes is too large", c.scenario);
    DSAFUZZ_CHECK(ensure_worker());
    SharedPage& page = *worker_->page;
    std::memcpy(page.case_bytes, bytes.data(), bytes.size());
    page.case_length = static_cast<std::uint32_t>(bytes.size());
    page.outcome_length = 0;
    page.wants_results = !for_search;
    page.step.store(-1, std::memory_order_relaxed);
    if (!features.empty()) std::memset(page.features, 0, sizeof page.features);

    ++worker_->cases_run;
    const Received received = ask(*worker_, ++number_);
    if (!features.empty()) std::memcpy(features.data(), page.features, std::min(features.size(), sizeof page.features));

    Outcome outcome;
    if (received == Received::message) {
      outcome = DSAFUZZ_TRY(decode_outcome(outcome_bytes(page)));
    } else {
      outcome = outcome_of_lost_worker(c, received);
    }
    auto [log, cut] = take_log(*worker_);
    outcome.log = std::move(log);
    outcome.log_cut = cut;
    if (received != Received::message || page.worker_ends) worker_.reset();
    return outcome;
  }

  static std::span<const std::uint8_t> outcome_bytes(const SharedPage& page) {
    return {page.outcome_bytes, std::min<std::size_t>(page.outcome_length, kOutcomeBytesLimit)};
  }

  // Has the worker run the case in its page; `message` when it has answered.
  Received ask(WorkerProcess& worker, std::uint64_t number) {
    SharedPage& page = *worker.page;
    const Message run{.kind = Message::Kind::run};
    if (page.request.ring(number) && send(worker.socket.get(), &run, sizeof run, MSG_NOSIGNAL) != sizeof run) {
      return Received::closed;
    }
    const auto deadline = std::chrono::steady_clock::now() + settings_.time_limit;
    if (page.answer.watch(number, watching_moment()) || !page.answer.fall_asleep(number)) return Received::message;
    Received received = Received::message;
    // Messages of earlier cases are passed over.
    while (received == Received::message && page.answer.number() < number) {
      Message message;
      const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
      received = receive(worker.socket.get(), message, std::max(left, milliseconds(0)));
    }
    page.answer.wake_up();
    return page.answer.number() >= number ? Received::message : received;
  }

  Outcome outcome_of_lost_worker(const Case& c, Received received) {
    Outcome outcome;
    outcome.device = settings_.device.text();
    outcome.versions = versions_;
    outcome.step = worker_->page->step.load(std::memory_order_relaxed);
    const int steps = static_cast<int>(c.steps.size());
    outcome.op = outcome.step < 0       ? "inputs"
                 : outcome.step < steps ? c.steps[static_cast<std::size_t>(outcome.step)].op
                                        : "synchronize";
    if (received == Received::late) {
      kill(-worker_->pid, SIGKILL);
      outcome.end = Outcome::End::timed_out;
      outcome.seconds = std::chrono::duration<double>(settings_.time_limit).count();
    }
    const auto status = zygote_->wait_status(worker_->pid, milliseconds(5'000));
    if (outcome.end == Outcome::End::timed_out) return outcome;
    if (status && WIFEXITED(*status)) {
      outcome.end = Outcome::End::exited;
      outcome.code = WEXITSTATUS(*status);
    } else {
      outcome.end = Outcome::End::signalled;
      outcome.code = status && WIFSIGNALED(*status) ? WTERMSIG(*status) : SIGKILL;
    }
    return outcome;
  }

  // What the worker printed since the last call, and whether its limit cut it.
  std::pair<std::string, bool> take_log(const WorkerProcess& worker) const {
    const off_t size = lseek(worker.log.get(), 0, SEEK_END);
    if (size <= 0) return {};
    std::string text(static_cast<std::size_t>(size), '\0');
    const ssize_t n = pread(worker.log.get(), text.data(), text.size(), 0);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    if (ftruncate(worker.log.get(), 0) != 0) return {std::move(text), true};
    return {std::move(text), static_cast<std::uint64_t>(size) >= settings_.output_bytes};
  }

  std::unique_ptr<Zygote> zygote_;
  RunSettings settings_;
  std::unique_ptr<WorkerProcess> worker_, spare_;
  SpareUse spares_;
  std::map<std::string, std::string> versions_;  // as the first worker said
  std::uint64_t number_ = 0;
};

}  // namespace

std::string worker_path() {
  char path[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  const std::string self(path, n > 0 ? static_cast<std::size_t>(n) : 0);
  return self.substr(0, self.rfind('/') + 1) + "dsafuzz-worker";
}

Result<std::unique_ptr<Executor>> start_workers(const RunSettings& settings) {
  auto zygote = DSAFUZZ_TRY(Zygote::start(worker_path(), settings));
  return std::unique_ptr<Executor>(std::make_unique<WorkerPool>(std::move(zygote), settings));
}

}  // namespace dsafuzz
