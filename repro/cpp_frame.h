// The parts of a C++ program around the case itself: what it includes, how it loads its device, how it judges what
// happened and says so.
#pragma once

#include <string>
#include <vector>

#include "repro/finding.h"

namespace dsafuzz {

// As wide as the formatter lets a line be.
inline constexpr std::size_t kCppWidth = 120;
// The line, indented by two blanks a level. Wider lines are kept from the formatter: broken up they would read worse.
std::string cpp_line(int level, const std::string& line);

// The parts with ", " between them, broken into lines of about a hundred characters, the further ones indented.
std::string wrapped(const std::vector<std::string>& parts, std::size_t indent);

struct CppHead {
  std::vector<std::string> remarks;  // further lines of the first comment
  bool by_name = false;              // with `call(name, overload, arguments, named)` for operators
  bool in_child = false;             // with what a program needs to start and watch a child
  bool in_gtest = false;             // with GoogleTest
};
// First comment and includes. What follows is `static at::Tensor reproduce(at::Device)` (cpp_program.h).
std::string cpp_head(const Finding& finding, const CppHead& head);

// `static bool load_device(const std::string& name)`, false where this machine lacks what the device needs, and
// `static int attempt(const std::string& name)`: 1 the bug shows, 0 it does not, 125 it cannot be run here.
std::string cpp_attempt(const Finding& finding);

}  // namespace dsafuzz
