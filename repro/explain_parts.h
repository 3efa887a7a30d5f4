// The parts that explain.h is put together from.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "repro/explain.h"

namespace dsafuzz {

// A failed device assert whose line is in the log. Requires: reading.asserts has a record.
void explain_assert(const LogReading& reading, std::span<const KnownScenario> scenarios, Explanation& out);

// Everything else, also a log without a fault.
void explain_fault(const LogReading& reading, std::span<const KnownScenario> scenarios, Explanation& out);

// The script that the first frame names, as one word for a shell; a placeholder if there is none.
std::string program_of(const LogReading& reading);
// Any text as one word of a POSIX shell.
std::string shell_word(std::string_view text);

}  // namespace dsafuzz
