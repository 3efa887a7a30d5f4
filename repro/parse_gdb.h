// cuda-gdb's stop and the driver's GPU core dump progress.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "repro/log_text.h"
#include "repro/scan.h"

namespace dsafuzz {

struct GdbReading {
  bool session = false;      // cuda-gdb ran, with or without a fault
  bool coredump = false;     // read from a GPU core dump, or written while one was made
  std::string exception;     // "Warp Illegal Address"; "Assertion failed" for an assert; empty: no fault
  std::string fault;         // one word: "illegal_memory_access"
  std::string kernel, file;  // as printed; of the triggering instruction, empty if unknown
  int line = 0;
  std::optional<Triple> block, thread;
  std::size_t log_line = 0;
  std::vector<std::string> verbatim;  // at most 8 lines
};

GdbReading parse_gdb(const LogText& log);

}  // namespace dsafuzz
