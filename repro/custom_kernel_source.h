// The sources of the kernels behind the dsafuzz:: operators, as they stand in kernels/custom, for repro.cu.
#pragma once

#include <string_view>

namespace dsafuzz {

struct CustomKernelSource {
  std::string_view name;  // of the files: "block_sums"
  std::string_view header, source;
};
// nullptr: there is no such file.
const CustomKernelSource* custom_kernel_source(std::string_view name);

}  // namespace dsafuzz
