// The steps of a nightly run (nightly.h), each done once for a run, recorded when it is done, and its outcome added to
// the summary. Private to nightly.h.
#pragma once

#include <string>
#include <vector>

#include "fuzz/nightly.h"
#include "repro/regress_run.h"

namespace dsafuzz {

class NightlySteps {
 public:
  NightlySteps(const NightlyOptions& options, RunRecord& record, NightlySummary& summary, bool search)
      : options_(options), config_(options.config), record_(record), summary_(summary), search_(search) {}

  // The steps that the run has not done yet. Problem: the database is gone.
  Result<void> run();

 private:
  using Step = Result<std::string> (NightlySteps::*)();  // what it did, in a line
  Result<void> one(const std::string& name, Step step);
  Result<std::string> regress();
  Result<std::string> known();
  Result<std::string> fuzz();
  Result<std::string> merge();
  Result<std::string> coverage();
  Result<std::string> matrix();
  Result<std::string> prune_old();

  RunSettings settings() const;
  Result<RegressRun> replay(const std::vector<std::string>& folders);
  Result<bool> is_gone_already(const std::string& name);
  void trouble(const std::string& problem);
  Sqlite& sql() { return record_.database().sql(); }

  const NightlyOptions& options_;
  const NightlyConfig& config_;
  RunRecord& record_;
  NightlySummary& summary_;
  bool search_;
};

}  // namespace dsafuzz
