// The case as the program that debugging tools run. Unlike a reproducer it catches nothing and judges nothing: an
// error ends it with Python's own traceback, which names the line at which the error reached the user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repro/case.h"

namespace dsafuzz {

struct DebugProgram {
  std::string
      text;  // run as `python program.py DEVICE`; exit code 125 and a line "cannot run on DEVICE: ..." where it cannot

  // Where a line of the program belongs.
  struct Place {
    int step = -1;       // an index into Case::steps; steps.size() in backward or the final wait; -1 before
    std::string op;      // that step's operator, "backward", "synchronize" or "inputs": as in an Outcome
    std::string source;  // the line, without its indentation
    friend bool operator==(const Place&, const Place&) = default;
  };
  // Of the line with this number, from 1 on; nullopt outside the program.
  std::optional<Place> place_of(int line) const;

  struct Part {
    int first_line = 0;
    int step = -1;
    std::string op;
  };
  std::vector<Part> parts;  // by first_line
};

inline constexpr std::string_view kCannotRun = "cannot run on ";

DebugProgram debug_program(const Case& c);

}  // namespace dsafuzz
