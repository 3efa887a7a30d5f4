// Host threads that help with a large grid. They are started at the first call in a process, so a process that only
// forks others never has them, and a forked one starts its own.
#pragma once

#include <cstdint>
#include <functional>

namespace vcuda {

// The cores that this process may use, 1 to 64.
unsigned core_count();

// Calls `work` once for each number below `pieces`, numbers in order, on at most `cores` host threads of which the
// calling one is the first; returns when all calls have. One call at a time in the process.
void run_on_cores(unsigned cores, std::uint64_t pieces, const std::function<void(std::uint64_t)>& work);

}  // namespace vcuda
