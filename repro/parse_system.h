// What else a log may show beside a fault of the device: memory exhausted, a missing or old driver, a process killed,
// a host assert, the kernel driver's Xid lines, and tools that could not describe the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "repro/log_text.h"

namespace dsafuzz {

// NVRM: Xid (PCI:0000:41:00): 31, ..
struct Xid {
  std::int64_t number = 0;
  std::string pci;      // "0000:41:00"
  std::string address;  // "0x7f3cde000000"; empty if not said
};
inline constexpr std::size_t kXidLimit = 64;

struct SystemFault {
  enum class Kind : std::uint8_t {
    oom,
    memory_access_fault,
    driver_missing,
    driver_too_old,
    process_killed,
    host_error,
    xid,
    shell_abort,  // below its causes: a host assert ends so, and a lost GPU may
    tool_usage,
    environment_failure
  };
  Kind kind = Kind::oom;
  std::string fault;       // one word: "oom", "sigabrt", "nvml_mismatch"
  std::int64_t count = 1;  // Xid lines; 1 for the rest
  std::vector<Xid> xids;   // at most kXidLimit; empty for the other kinds
  std::size_t log_line = 0;
  std::string verbatim;
};

// The weightiest kind (in the order above), where it appears first.
std::optional<SystemFault> parse_system(const LogText& log);

}  // namespace dsafuzz
