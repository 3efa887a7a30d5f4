// The lines of a Python program that a case becomes, for the files that hold one: repro.py and test_repro.py.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "repro/case.h"

namespace dsafuzz {

struct PythonProgram {
  // Lines over the names `torch` and `device`, without the indentation of where they are put.
  std::vector<std::string> tensors;  // make the inputs
  std::vector<std::string> steps;    // call the operators, as a user would (api_name.h)
  std::vector<std::string> wait;     // for the device, where it is not the CPU
  std::string result;                // what the last step's first result is called; empty if there is none
};

enum class Unused : std::uint8_t {
  bound,    // every result has its name: reads best
  dropped,  // a name that nothing uses is left out, as linters want it inside a function
  dropped_but_result,
};
enum class Calls : std::uint8_t { of_users, by_name };  // by_name: all are torch.ops.aten.X
PythonProgram python_program(const Case& c, Unused unused = Unused::bound, Calls calls = Calls::of_users);

// aten::sum.dim_IntList is torch.ops.aten.sum.dim_IntList; what is no identifier is reached by getattr.
std::string python_operator(const Step& step);

}  // namespace dsafuzz
