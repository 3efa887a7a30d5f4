// What gdb prints of a device thread of the virtual device: where the script of debug_plan.h stopped, and the frames
// there, each with its line of source, its arguments and its locals where gdb has them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "repro/log_text.h"
#include "repro/scan.h"

namespace dsafuzz {

struct HostGdbValue {
  std::string name, value;  // as gdb prints it: "3", "{1, 0 <repeats 31 times>}"
  friend bool operator==(const HostGdbValue&, const HostGdbValue&) = default;
};

struct HostGdbFrame {
  int number = 0;
  std::string function;  // without its arguments
  std::string file;      // empty: unknown
  int line = 0;
  std::string source;  // the line's text; empty: gdb had no file
  // Those with a value: the compiler may have kept none. Of names that hide each other the innermost.
  std::vector<HostGdbValue> arguments, locals;
  bool in_kernel() const;  // a kernel's own code, and not the device that runs it
};
inline constexpr std::size_t kHostFrameLimit = 64;

struct HostGdbStop {
  bool stopped = false;
  std::optional<Triple> block, thread;
  std::vector<HostGdbFrame> frames;  // innermost first
  // The innermost frame of a kernel; null if there is none.
  const HostGdbFrame* kernel() const;
};

HostGdbStop parse_host_gdb(const LogText& log);

}  // namespace dsafuzz
