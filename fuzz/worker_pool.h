// The real Executor: cases run in a worker process forked from a zygote. A dead, hanging or poisoned worker is replaced
// from a spare that is forked ahead of need. One case at a time; not for several threads.
#pragma once

#include <memory>
#include <string>

#include "repro/executor.h"

namespace dsafuzz {

// Starts the zygote for these settings (0.6 s for cpu and vcuda).
// Problem: the worker program is missing or cannot start.
Result<std::unique_ptr<Executor>> start_workers(const RunSettings& settings);

// The worker program: beside this one.
std::string worker_path();

}  // namespace dsafuzz
