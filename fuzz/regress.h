// Replays a corpus of cases in parallel and says of each whether it shows what it should. Every run is in a fresh
// process, so the answer depends neither on the other cases nor on the number of jobs.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "fuzz/case_file.h"
#include "fuzz/replayer.h"
#include "repro/regress_run.h"

namespace dsafuzz {

struct RegressOptions {
  std::vector<CasePath> cases;
  RunSettings settings;   // what an expectation or a finding leaves open
  int confirmations = 5;  // fresh processes in all that are asked before a difference is reported
  std::size_t jobs = 1;
  Replayer::StartWorkers start_workers;
  std::function<void(std::size_t done, std::size_t all)> progress;  // called from several threads, one at a time
};

// Rows are sorted worst first; `program` and `seconds` are left to the caller. Expected is what expect.yaml says, else
// the signature of a stored finding. A case that cannot be read is a row, not a Problem. Problem: no worker.
Result<RegressRun> run_regress(const RegressOptions& options);

}  // namespace dsafuzz
