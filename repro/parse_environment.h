// What a log tells of the machine: nvidia-smi in its four forms, nvcc, cudnn_version.h, PyTorch's collect_env and the
// kernel driver's version file. Told facts only, under fixed names; what a tool could not say is there without a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "repro/log_text.h"

namespace dsafuzz {

// monostate: the tool names it and says that it does not know.
using Told = std::variant<std::monostate, std::int64_t, std::string, std::vector<std::string>>;
struct Fact {
  std::string_view name;  // "driver", "memory_used_mib"; a literal
  Told value;
};
using Facts = std::vector<Fact>;

// Keeps the first of each name.
void add_fact(Facts& facts, std::string_view name, Told value);
const Told* find_fact(const Facts& facts, std::string_view name);

struct EnvironmentReading {
  std::string source;            // the first tool whose output is there: "nvidia-smi -q"; empty: none
  Facts facts;                   // driver, cuda_driver, nvcc, cudnn, cudnn_number, torch, cuda_build, cuda_runtime,
                                 // python, os
  std::vector<Facts> gpus;       // index, name, bus, memory_used_mib, memory_total_mib, util, ecc, mig
  std::vector<Facts> processes;  // gpu, pid, type, name, mib
  bool lists_gpus = false, lists_processes = false;
  bool cut = false;          // the output ends before its end
  std::size_t log_line = 0;  // where the first tool's output begins
};
inline constexpr std::size_t kEnvironmentLimit = 256;  // GPUs and processes kept

EnvironmentReading parse_environment(const LogText& log);

}  // namespace dsafuzz
