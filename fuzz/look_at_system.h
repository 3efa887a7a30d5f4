// The operating system's part of look_at_machine(): environment, /proc, /dev, limits.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "repro/machine_record.h"

namespace dsafuzz {

// The variables that CUDA, PyTorch, NCCL, compilers and loaders read, as NAME=VALUE lines; no others.
std::string seen_environment();

// Adds kernel, modules, devices, pci, limits and the daemons; `listed` are process numbers that nvidia-smi named.
void look_at_system(const std::string& listed_by_smi, MachineRecord& record);

// The first bytes of a file; empty if it cannot be read. For files in /proc, which have no size.
std::string head_of(const std::string& path, std::size_t limit = std::size_t{1} << 20);

// What lies in a folder, by path; nothing if it cannot be read.
std::vector<std::filesystem::path> sorted_entries(const std::filesystem::path& folder);

// The lines that contain one of the words.
std::string lines_with(const std::string& text, std::initializer_list<std::string_view> words);

}  // namespace dsafuzz
