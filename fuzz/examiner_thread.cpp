#include "fuzz/examiner_thread.h"

namespace dsafuzz {

ExaminerThread::ExaminerThread(const CampaignOptions& options, Store& store,
                               const std::map<std::string, Scenario>& scenarios, const std::atomic<bool>& stop)
    : options_(options), store_(store), scenarios_(scenarios), stop_(stop), thread_([this] { work(); }) {}

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
  device_.reset();
  cpu_.reset();
}

// The first candidate in the order of examination; others may arrive meanwhile.
Result<void> ExaminerThread::examine_waiting() {
  const std::vector<Candidate> candidates = store_.candidates();
  if (candidates.empty()) return {};
  const auto scenario = scenarios_.find(candidates.front().the_case.scenario);
  RunSettings settings = options_.settings;
  if (!settings.tool && scenario != scenarios_.end()) settings.tool = scenario->second.tool;
  if (!device_ || device_->settings().tool != settings.tool) {
    settings.blocking = true;
    settings.cpp_stacks = true;  // for the earliest frame
    device_.reset();
    auto device = options_.start_workers(settings);
    if (!device) return std::unexpected(device.error());
    device_ = std::move(*device);
    settings.device = Device{.kind = Device::Kind::cpu};
    if (!cpu_) {
      auto cpu = options_.start_workers(settings);
      if (!cpu) return std::unexpected(cpu.error());
      cpu_ = std::move(*cpu);
    }
  }
  ExamineOptions examine;
  examine.confirmations = options_.confirmations;
  examine.executions = options_.reduce_executions;
  examine.stop = [this] { return stop_.load(); };
  Examiner examiner(store_, *device_, cpu_.get(), options_.reproducers, scenarios_, examine);
  Result<Examination> report = examiner.examine(candidates.front());
  if (!report) return std::unexpected(report.error());
  if (report->minimal.scenario.empty()) report->minimal.scenario = candidates.front().the_case.scenario;
  const std::scoped_lock lock(mutex_);
  reports_.push_back(std::move(*report));
  return {};
}

}  // namespace dsafuzz
