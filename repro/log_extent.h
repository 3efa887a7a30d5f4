// How far a log can be trusted: whether a part of it is missing, and whether its Python frames show the call that
// failed or a later one that merely noticed.
#pragma once

#include <optional>

#include "repro/parse_log.h"

namespace dsafuzz {

// True where the text itself shows it: lines left out by the poster, a line without its beginning or its end, a
// traceback without its error, a report or table that stops early, records that two processes cut into each other.
bool is_truncated(const LogText& log, const LogReading& reading);

// Of a sticky error: false if the call that failed was waited for (CUDA_LAUNCH_BLOCKING=1 takes the warning about
// asynchronous reports away), true otherwise. nullopt for everything else, which is reported where it happens, and
// where the assert is named and no frame is there to mislead.
std::optional<bool> may_be_late(const LogText& log, const LogReading& reading);

}  // namespace dsafuzz
