// The C++ function that a case becomes, over LibTorch only, for the files that hold one: repro.cpp and repro_test.cpp.
#pragma once

#include <string>

#include "repro/case.h"

namespace dsafuzz {

struct CppProgram {
  // `static at::Tensor reproduce(at::Device device)`: makes the tensors, calls the operators as a user would
  // (api_name.h), waits for the device, and returns the last result.
  std::string text;
  bool calls_by_name = false;  // operators that have no user's call go through `call()` of cpp_frame.h
};
CppProgram cpp_program(const Case& c);

}  // namespace dsafuzz
