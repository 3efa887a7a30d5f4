// A log made readable: terminal colours, carriage returns, NUL bytes and UTF-16 removed, lines separated, and the
// margins that wrappers put before a line (rank, pytest, compose, container runtime) taken off. Every grammar reads
// this and none cares how the text came here. Takes any bytes; time and memory are linear in their number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dsafuzz {

struct LogText {
  std::vector<std::string> lines;  // without margins and line ends
};

LogText read_log_text(std::string_view raw);

// One line without its margins: "[rank0]: x" gives "x"; a json-file line gives its unescaped "log" field.
std::string without_margins(std::string_view line);

}  // namespace dsafuzz
