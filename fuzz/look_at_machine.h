// Looks at the machine this runs on, as a user would: runs nvidia-smi, nvcc, compilers and Python, reads files in /proc
// and of the installed wheels. Changes nothing, imports no PyTorch, needs no GPU and no rights.
#pragma once

#include <string>
#include <vector>

#include "repro/machine_record.h"
#include "repro/result.h"

namespace dsafuzz {

struct LookOptions {
  std::string python;                  // the Python whose PyTorch is looked at; empty: DSAFUZZ_PYTHON, else python3
  std::vector<std::string> libraries;  // libraries of kernels whose asserts are looked for
};

// What could be seen; an item that is not there is left out. Problem (input): a named Python or library does not exist.
// Problem (environment): this is no Linux with /proc, so nothing could be seen.
Result<MachineRecord> look_at_machine(const LookOptions& options);

}  // namespace dsafuzz
