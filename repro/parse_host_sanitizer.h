// AddressSanitizer's report of a host process: what was wrong, and the first frame that has a source.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "repro/finding.h"
#include "repro/log_text.h"

namespace dsafuzz {

struct HostSanitizerReport {
  std::string fault;          // "heap-buffer-overflow"
  std::string access;         // "WRITE of size 4"; empty if not said
  std::vector<Frame> frames;  // innermost first, at most 16; those without a source have no file
  std::size_t log_line = 0;
  std::vector<std::string> verbatim;  // at most 12 lines
};

// The first report; nullopt if there is none.
std::optional<HostSanitizerReport> parse_host_sanitizer(const LogText& log);

}  // namespace dsafuzz
