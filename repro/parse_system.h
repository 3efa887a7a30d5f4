// What else a log may show beside a fault of the device: memory exhausted, a missing or old driver, a process killed,
// a host assert, the kernel driver's Xid lines, and the output of tools that describe the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "repro/log_text.h"

namespace dsafuzz {

struct SystemFault {
  enum class Kind : std::uint8_t {
    oom,
    memory_access_fault,
    driver_missing,
    driver_too_old,
    process_killed,
    host_error,
    xid,
    tool_usage,
    environment_failure,
    environment
  };
  Kind kind = Kind::oom;
  std::string fault;       // one word: "oom", "sigabrt", "nvml_mismatch"; empty for environment
  std::int64_t count = 1;  // Xid lines; 1 for the rest
  std::size_t log_line = 0;
  std::string verbatim;
};

// The weightiest kind (in the order above), where it appears first.
std::optional<SystemFault> parse_system(const LogText& log);

}  // namespace dsafuzz
