// Stacks: Python tracebacks (plain, Jupyter, rich, pytest, faulthandler) and C++ frames as c10 prints them. Only the
// first traceback counts, with what it is nested in; later ones echo a sticky error.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "repro/finding.h"
#include "repro/log_text.h"

namespace dsafuzz {

struct CppFrame {
  int number = 0;
  std::string symbol;   // empty: <unknown function>
  std::string library;  // "/usr/lib/libc10.so"; empty in the captured form
  std::string file;     // of the captured form, empty if unknown
  int line = 0;
};

struct FrameReading {
  std::vector<Frame> python;                         // outermost first, at most kFrameLimit
  std::optional<Frame> earliest_user, nearest_user;  // outside site-packages and the standard library
  std::vector<CppFrame> cpp;                         // as printed: innermost first, at most kFrameLimit
  std::string raised_from;                           // the function named in "Exception raised from"
  std::string api_call;  // the PyTorch call in which the error was noticed; empty if not evident
};
inline constexpr std::size_t kFrameLimit = 256;

FrameReading parse_frames(const LogText& log);

// Not PyTorch's, not another package's, not Python's own, not the launcher's.
bool is_user_file(std::string_view path);

}  // namespace dsafuzz
