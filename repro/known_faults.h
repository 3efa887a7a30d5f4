// What is to be said of each fault that is not an assert with its line: experience as data.
#pragma once

#include <array>
#include <string_view>

namespace dsafuzz {

// Texts live as long as the program; {0} in a step stands for the user's program, as a word of the shell.
struct KnownFault {
  std::string_view fault;  // how primary_fault begins
  std::string_view happened;
  std::array<std::string_view, 3> causes;  // may be empty
  std::array<std::string_view, 4> steps;   // may be empty
};

// The row for a fault's word (LogReading::primary_fault), which may begin with the row's own; nullptr if there is none.
const KnownFault* find_known_fault(std::string_view fault);

}  // namespace dsafuzz
