// What tools and files of an installation say about versions: nvcc, cudnn_version.h, compilers, Python, PyTorch's
// version.py and METADATA, the installed wheels, and PyTorch's collect_env as people send it.
#pragma once

#include <string>
#include <string_view>

#include "repro/machine_facts.h"

namespace dsafuzz {

void read_nvcc_version(std::string_view text, MachineFacts& facts);      // nvcc --version
void read_cudnn_header(std::string_view text, MachineFacts& facts);      // the #defines of cudnn_version.h
void read_compiler_version(std::string_view text, MachineFacts& facts);  // g++ --version or clang++ --version
void read_python(std::string_view text, MachineFacts& facts);            // lines "python 3.11.2", "glibc 2.36"
void read_torch_version(std::string_view text, MachineFacts& facts);     // torch/version.py
void read_torch_metadata(std::string_view text, MachineFacts& facts);    // its METADATA: what it requires
void read_wheels(std::string_view text, MachineFacts& facts);            // a line for each: "nvidia_nccl_cu13-2.28.9"
void read_collect_env(std::string_view text, MachineFacts& facts);       // python -m torch.utils.collect_env

// The list of packages at the end of collect_env's report, in the form of read_wheels().
std::string wheels_in_collect_env(std::string_view text);

}  // namespace dsafuzz
