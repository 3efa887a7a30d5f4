// An executor without a process: what happens to a case is decided by its values, as a small set of kernels would.
#pragma once

#include <functional>
#include <string>

#include "repro/executor.h"
#include "repro/scenario.h"

namespace dsafuzz {

// Which planted bugs the fake device has. All look at the tensors `labels` and `logits` and the size `classes`.
struct FakeBugs {
  bool label_asserts = true;          // a label outside [0, classes) that is not -100: nll_loss's assert
  bool label_accepted = false;        // ... is accepted instead, silently
  bool nan_crashes = false;           // a NaN in logits ends the process by SIGSEGV
  bool big_batch_hangs = false;       // batch of 257 or more
  bool lone_label_crashes = false;    // a bad label in a batch of 1 ends the process: a slip for reduction
  int flaky = 0;                      // a fresh process shows the assert only every n-th time; 0: always
  int sleep_us = 0;                   // for each run
  int assert_us = 0;                  // more, when a bug shows
  std::uint64_t hang_here_after = 0;  // really sleeps, inside this run: for tests that kill an engine; 0: never
};

class FakeExecutor : public Executor {
 public:
  FakeExecutor(FakeBugs bugs, Device device) : bugs_(bugs) {
    settings_.device = device;
    settings_.blocking = true;
  }
  Result<Outcome> run(const Case& c, std::span<std::uint8_t> features = {}) override;
  Result<Outcome> run_fresh(const Case& c) override;
  const RunSettings& settings() const override { return settings_; }

  std::uint64_t runs = 0, fresh_runs = 0;

 private:
  Outcome outcome_of(const Case& c);

  FakeBugs bugs_;
  RunSettings settings_;
};

// linear + cross entropy: labels vary, and with `more` also batch, classes, dtypes, precision, phase, layout,
// reduction.
Scenario classic_scenario(bool more = true);
// The same in a healthy twin's form.
Scenario healthy_scenario();
// The classic scenario as a file's text.
std::string classic_yaml();

}  // namespace dsafuzz
