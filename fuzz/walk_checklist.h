// Walks the prevention list for one case: reads its data, runs it in every precision mode, many times in one worker,
// under each tool of the virtual device, and on the CPU.
#pragma once

#include <optional>

#include "fuzz/replayer.h"
#include "repro/checklist.h"
#include "repro/scenario.h"

namespace dsafuzz {

// `scenario`, if any, says what is legal and what counts as a finding. `settings` say where it runs; the sanitizer's
// tools run on the virtual device, whatever device that is. `start` makes workers.
// The list has no file yet. Problem: no worker. Requires: the case is valid.
Result<Checklist> walk_checklist(const Case& c, const Scenario* scenario, const RunSettings& settings,
                                 const Replayer::StartWorkers& start);

}  // namespace dsafuzz
