// Examines candidates beside the search, on a thread with workers of its own. What is to do is read from the store each
// time, so nothing is handed over in memory and nothing is lost when the campaign dies.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fuzz/campaign.h"

namespace dsafuzz {

class ExaminerThread {
 public:
  // All references outlive it. Examines nothing until allowed.
  ExaminerThread(const CampaignOptions& options, Store& store, const std::map<std::string, Scenario>& scenarios,
                 const std::atomic<bool>& stop);
  ~ExaminerThread();  // finish()
  ExaminerThread(const ExaminerThread&) = delete;
  ExaminerThread& operator=(const ExaminerThread&) = delete;

  void allow(bool yes) { allowed_ = yes; }
  // True while there is something to do and it is allowed to do it.
  bool busy() const { return busy_; }
  // No more candidates will come: returns when those there are examined, or at once after a stop or a problem.
  void finish();

  // Reports since the last call, in order; `problem` is why it gave up, empty if it did not.
  std::vector<Examination> take_reports();
  std::string problem() const;

 private:
  void work();
  Result<void> examine_waiting();
  Result<Executor*> workers_on(const Device& device);

  const CampaignOptions& options_;
  Store& store_;
  const std::map<std::string, Scenario>& scenarios_;
  const std::atomic<bool>& stop_;
  const std::vector<Device> devices_;
  // By device; made with the first candidate that needs them, all with `tool_`.
  std::map<std::string, std::unique_ptr<Executor>> workers_;
  std::optional<Tool> tool_;
  std::atomic<bool> allowed_{false}, busy_{true}, finishing_{false};
  mutable std::mutex mutex_;
  std::vector<Examination> reports_;
  std::string problem_;
  std::thread thread_;
};

}  // namespace dsafuzz
