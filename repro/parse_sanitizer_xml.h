// compute-sanitizer --xml: records of named elements, in any spacing and perhaps cut off.
#pragma once

#include "repro/parse_sanitizer.h"

namespace dsafuzz {

// Not present if the log holds no <ComputeSanitizerOutput>.
SanitizerReading parse_sanitizer_xml(const LogText& log);

}  // namespace dsafuzz
