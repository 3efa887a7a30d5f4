// Texts that follow a fault without saying anything new: what libraries, destructors and launchers print when the
// context is lost. Told to the reader so that he does not chase them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "repro/log_text.h"

namespace dsafuzz {

struct LogEcho {
  std::string_view what;  // a sentence's beginning: "cuBLAS reports a failed call"
  std::int64_t count = 0;
};

// In the order of a table, the shell's word last; empty if there is none. Only meaningful beside a fault of its own.
std::vector<LogEcho> find_echoes(const LogText& log);

}  // namespace dsafuzz
