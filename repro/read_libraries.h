// What the list of libraries says that a program would load. One line for each file that was found:
//
//   ORIGIN FOLDER/NAME -> TARGET
//
// ORIGIN is LD_PRELOAD, LD_LIBRARY_PATH, ldconfig (in the loader's order), wheel (nvidia/*/lib beside torch) or torch
// (torch/lib); the target is where the link leads, and is left out where the file is no link.
#pragma once

#include <string_view>

#include "repro/machine_facts.h"

namespace dsafuzz {

// Reads the lines above. Requires: the facts of the environment, the kernel module and the wheels are there already.
void read_libraries(std::string_view text, MachineFacts& facts);

}  // namespace dsafuzz
