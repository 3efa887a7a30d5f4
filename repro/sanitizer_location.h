// Where compute-sanitizer says an access happened. Its wording changed with the years:
//   cuda-memcheck .. 2023.2   0x150 in [FILE:LINE:]FUNC
//   since 2023.3              FUNC+0xOFF[ in FILE:LINE]
// and the same for its Device Frame lines. Host frames are read here too.
#pragma once

#include <string>
#include <string_view>

#include "repro/finding.h"

namespace dsafuzz {

struct DeviceLocation {
  std::string function;  // as printed; empty if only an offset is known
  std::string file;      // trimmed_path; empty if unknown
  int line = 0;
  bool offset_first = false;  // the older wording, which names the kernel itself
};
DeviceLocation parse_device_location(std::string_view text);

struct HostFrame {
  std::string symbol;  // empty if unknown
  std::string file;    // source file; empty if unknown
  int line = 0;
  std::string module;  // shared library or program; empty if it stands on the next line
};
// What follows "Host Frame:".
HostFrame parse_host_frame(std::string_view text);
// Neither the CUDA runtime's, nor Python's, nor the C library's, nor in a shared object without source.
bool is_user_frame(const HostFrame& frame);

}  // namespace dsafuzz
