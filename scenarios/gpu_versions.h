// What a report of a finding on a GPU says of it, under the names that the reports know (repro/emit_issue.cpp).
#pragma once

#include <map>
#include <string>

namespace dsafuzz {

// Of CUDA's device number `device`, as CUDA_VISIBLE_DEVICES has it: "gpu": "NVIDIA H200", "driver": "580.82.07",
// "cuda_runtime": "13.0", "cudnn": "9.19.0". What is not known is left out; nothing throws. Requires: LibTorch's CUDA
// library was loaded.
std::map<std::string, std::string> gpu_versions(int device);

}  // namespace dsafuzz
