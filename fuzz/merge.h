// Joins campaigns' folders, and makes the corpus small again without losing coverage: of all cases of a scenario, those
// are kept that show a feature which no smaller one shows, as libFuzzer's -merge does. The time is linear in the cases.
//
// Findings are joined by signature, the first one stays; databases by run. A case that fails is not for mutating: it
// becomes a candidate, which the next campaign examines. Interrupted at any point, nothing is lost: cases are removed
// when all of their scenario have been run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/store.h"
#include "repro/executor.h"

namespace dsafuzz {

struct MergeOptions {
  RunSettings settings;
  std::size_t jobs = 1;  // scenarios at once, each with a worker of its own
  std::function<Result<std::unique_ptr<Executor>>(const RunSettings&)> start_workers;
  std::function<void(std::size_t done, std::size_t all)> progress;  // called from several threads, one at a time
  std::function<bool()> stop;                                       // asked between cases; may be empty
};

struct MergedCorpus {
  std::string scenario;
  std::size_t cases = 0, kept = 0, failing = 0, unreadable = 0;
  std::uint64_t features = 0;  // of all cases, and of those kept
};

struct MergeSummary {
  int cases = 0, findings = 0, candidates = 0, runs = 0;  // that came from other folders
  std::vector<MergedCorpus> corpora;                      // by scenario
  bool interrupted = false;                               // corpora that are not listed are as they were
};
std::string to_text(const MergeSummary& summary);

// Takes everything from the folders; `summary` receives the numbers. Problem: not a campaign's folder, no space.
Result<void> take_folders(Store& store, const std::vector<std::string>& from, MergeSummary& summary);

// Minimises the corpus of every scenario. The order is fixed, so the same corpus gives the same result.
// Requires: the store is exclusive. Problem: no worker; corpora are whole.
Result<void> minimise_corpora(Store& store, const MergeOptions& options, MergeSummary& summary);

}  // namespace dsafuzz
