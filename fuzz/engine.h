// One engine: libFuzzer with our mutators and an Executor behind it. One process, one worker, one scenario.
//
// With a seed and a number of runs it is deterministic: inputs come from the corpus sorted by name and from libFuzzer's
// generator, which is seeded; nothing is reloaded while it runs, and neither clock nor other engines decide anything.
#pragma once

#include "fuzz/engine_options.h"
#include "fuzz/store.h"
#include "repro/executor.h"
#include "repro/scenario.h"

namespace dsafuzz {

// Fuzzes until options.runs executions, options.seconds, SIGINT or SIGTERM. libFuzzer ends a process rather than
// return, so this ENDS THE PROCESS with _exit: 0 when it stopped as asked, 3 when it could not go on (the last status
// line says why). It returns, with an exit code, only when it could not start; the reason is then on stderr and in a
// status line. stderr goes to the engine's log file from here on. Call once, with no other thread running.
int run_engine(const EngineOptions& options, Executor& executor);
int run_engine(const EngineOptions& options, const Scenario& scenario, Executor& executor);

}  // namespace dsafuzz
