#include "fuzz/examiner_thread.h"

#include <algorithm>
#include <iterator>

namespace dsafuzz {

ExaminerThread::ExaminerThread(const CampaignOptions& options, Store& store,
                               const std::map<std::string, Scenario>& scenarios, const std::atomic<bool>& stop)
    : options_(options),
      store_(store),
      scenarios_(scenarios),
      stop_(stop),
      devices_(devices_of(options)),
      thread_([this] { work(); }) {}

ExaminerThread::~ExaminerThread() { finish(); }

void ExaminerThread::finish() {
  finishing_ = true;
  if (thread_.joinable()) thread_.join();
}

std::vector<Examination> ExaminerThread::take_reports() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(reports_, {});
}

std::string ExaminerThread::problem() const {
  const std::scoped_lock lock(mutex_);
  return problem_;
}

void ExaminerThread::work() {
  while (!stop_) {
    // Asked before looking, so that what came before finish() is seen.
    const bool last = finishing_;
    if (allowed_ && store_.candidate_count() > 0) {
      busy_ = true;
      if (const auto ok = examine_waiting(); !ok) {
        const std::scoped_lock lock(mutex_);
        problem_ = ok.error().text();
        break;
      }
      continue;
    }
    if (allowed_) busy_ = false;
    if (last) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  busy_ = false;
  // Workers end with the thread that started them, so they go first.
  workers_.clear();
}

Result<Executor*> ExaminerThread::workers_on(const Device& device) {
  std::unique_ptr<Executor>& kept = workers_[device.text()];
  if (!kept) {
    RunSettings settings = options_.settings;
    settings.device = device;
    settings.tool = tool_;
    settings.blocking = true;
    settings.cpp_stacks = true;  // for the earliest frame
    kept = DSAFUZZ_TRY(options_.start_workers(settings));
  }
  return kept.get();
}

// The first candidate in the order of examination; others may arrive meanwhile.
Result<void> ExaminerThread::examine_waiting() {
  const std::vector<Candidate> candidates = store_.candidates();
  if (candidates.empty()) return {};
  const Candidate& candidate = candidates.front();
  const auto scenario = scenarios_.find(candidate.the_case.scenario);
  std::optional<Tool> tool = options_.settings.tool;
  if (!tool && scenario != scenarios_.end()) tool = scenario->second.tool;
  if (tool != tool_) workers_.clear();
  tool_ = tool;
  // Where it was met, if this campaign has that device.
  const auto met = std::ranges::find(devices_, candidate.outcome.device, &Device::text);
  const Device& device = met == devices_.end() ? devices_.front() : *met;
  Executor* const workers = DSAFUZZ_TRY(workers_on(device));
  Executor* const cpu = DSAFUZZ_TRY(workers_on({.kind = Device::Kind::cpu}));
  ExamineOptions examine;
  examine.confirmations = options_.confirmations;
  examine.redact = options_.redact;
  examine.executions = options_.reduce_executions;
  examine.stop = [this] { return stop_.load(); };
  std::ranges::remove_copy(devices_, std::back_inserter(examine.elsewhere), device);
  examine.workers_on = [this](const Device& other) { return workers_on(other); };
  Examiner examiner(store_, *workers, cpu, options_.reproducers, scenarios_, examine);
  Result<Examination> report = examiner.examine(candidate);
  if (!report) return std::unexpected(report.error());
  if (report->minimal.scenario.empty()) report->minimal.scenario = candidate.the_case.scenario;
  const std::scoped_lock lock(mutex_);
  reports_.push_back(std::move(*report));
  return {};
}

}  // namespace dsafuzz
