// The installed software's part of look_at_machine(): Python, PyTorch's wheel and NVIDIA's, libraries as a loader finds
// them, toolkit and compilers.
#pragma once

#include <string>
#include <vector>

#include "repro/machine_record.h"
#include "repro/result.h"

namespace dsafuzz {

// Adds what this Python has installed. Does nothing if it cannot be started.
void look_at_python(const std::string& python, MachineRecord& record);

// Adds nvcc, the host compiler and the system's cuDNN header.
void look_at_toolkit(MachineRecord& record);

// Adds the libraries outside and, below this folder of Python packages (may be empty), inside the wheels.
void look_at_libraries(const std::string& packages, MachineRecord& record);

// Adds whether each library of kernels has its asserts. Problem (input): one cannot be read.
Result<void> look_at_device_code(const std::vector<std::string>& libraries, MachineRecord& record);

// The folder with Python's packages, as look_at_python() found it.
std::string packages_of(const MachineRecord& record);

// What the command printed, if it could be started; else nothing is recorded.
void record_output(const std::string& name, const std::vector<std::string>& argv, MachineRecord& record);

}  // namespace dsafuzz
