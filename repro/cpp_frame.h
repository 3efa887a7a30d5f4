// The parts of a C++ reproducer around the case itself: what it includes, how it loads its device, how it judges what
// happened and says so.
#pragma once

#include <string>

#include "repro/finding.h"

namespace dsafuzz {

// First comment, includes, and `call(name, overload, arguments, named)` for operators.
std::string cpp_head(const Finding& finding);

// What follows `static at::Tensor reproduce(at::Device)`: loading, the attempt, main.
std::string cpp_frame(const Finding& finding);

}  // namespace dsafuzz
