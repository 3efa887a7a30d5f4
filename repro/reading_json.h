// A log's reading for scripts: what `dsafuzz explain --json` prints, and what corpus/logs/*.expected.json compare with.
#pragma once

#include <string>

#include "repro/explain.h"
#include "repro/parse_log.h"

namespace dsafuzz {

// One JSON object. Its keys, null or [] where the log does not say:
//   kind, origin, kernel, file, line, condition, block, thread, count, primary_fault, api_call: as in LogReading
//   sticky_error          {code, name, text, exception}: the error a failed call was reported with
//   earliest_user_frame, nearest_user_frame   {file, line, function}
//   traceback_may_be_late, truncated          see log_extent.h
//   faults                every fault of a log that shows more than one, each with what is known of it
//   environment           what tools told of the machine
//   advice                see explain.h: {happened, where, meaning, legal, causes, guard, consequences, steps, ...}
std::string reading_json(const LogReading& reading, const Explanation& advice);

}  // namespace dsafuzz
