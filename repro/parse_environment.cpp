// Tools are recognised by lines that nothing else prints. PyTorch's collect_env is read last for GPUs: nvidia-smi tells
// more of them.
#include "repro/parse_environment.h"

#include <algorithm>
#include <array>
#include <optional>

#include "repro/parse_smi.h"
#include "repro/scan.h"
#include "repro/version_number.h"

namespace dsafuzz {
namespace {

std::string_view first_word(std::string_view s) {
  s = trimmed(s);
  return s.substr(0, s.find_first_of(" \t,"));
}

Told text_of(std::string_view s) {
  s = trimmed(s);
  const bool unknown = s.empty() || s == "N/A" || s == "None" || s == "No CUDA" || s.starts_with("Could not collect");
  return unknown ? Told() : Told(std::string(s));
}

// Cuda compilation tools, release 13.0, V13.0.88
void read_nvcc(std::string_view line, std::size_t number, EnvironmentReading& reading) {
  if (!take_until(line, "Cuda compilation tools, release ")) return;
  name_source(reading, "nvcc --version", number);
  std::string_view exact = line;
  add_fact(reading.facts, "nvcc", std::string(take_until(exact, ", V") ? first_word(exact) : first_word(line)));
}

// NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.133.20  Release Build ..
void read_driver_file(std::string_view line, std::size_t number, EnvironmentReading& reading) {
  if (!take_until(line, "NVRM version:")) return;
  const std::string_view version = dotted_word(line);
  if (version.empty()) return;
  name_source(reading, "/proc/driver/nvidia/version", number);
  add_fact(reading.facts, "driver", std::string(version));
}

// The three numbers, and the factor by which the header joins them: 1000 up to version 8.
class CudnnHeader {
 public:
  void line(std::string_view line, std::size_t number) {
    constexpr std::array<std::string_view, 3> kNames{"CUDNN_MAJOR ", "CUDNN_MINOR ", "CUDNN_PATCHLEVEL "};
    std::string_view rest = line;
    if (!take_until(rest, "#define CUDNN_")) return;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      rest = line;
      if (!take_until(rest, kNames[i]) || contains(rest, "CUDNN_")) continue;
      rest = trimmed(rest);
      if (!parts_[i]) parts_[i] = take_number(rest);
      if (i == 0) at_ = number;
    }
    if (contains(line, "CUDNN_MAJOR * 10000")) factor_ = 10'000;
    if (contains(line, "CUDNN_MAJOR * 1000 ")) factor_ = 1'000;
  }

  void finish(EnvironmentReading& reading) const {
    if (!parts_[0] || !parts_[1] || !parts_[2]) return;
    constexpr std::int64_t kMost = 1'000'000;
    if (std::ranges::any_of(parts_, [](const auto& part) { return *part > kMost; })) return;
    name_source(reading, "cudnn_version.h", at_);
    add_fact(reading.facts, "cudnn",
             std::to_string(*parts_[0]) + "." + std::to_string(*parts_[1]) + "." + std::to_string(*parts_[2]));
    const std::int64_t factor = factor_.value_or(*parts_[0] >= 9 ? 10'000 : 1'000);
    add_fact(reading.facts, "cudnn_number", *parts_[0] * factor + *parts_[1] * 100 + *parts_[2]);
  }

 private:
  std::array<std::optional<std::int64_t>, 3> parts_;
  std::optional<std::int64_t> factor_;
  std::size_t at_ = 0;
};

// "GPU 0: NVIDIA L40S"
std::optional<Facts> listed_gpu(std::string_view line) {
  line = trimmed(line);
  if (!take(line, "GPU ")) return std::nullopt;
  const auto index = take_number(line);
  if (!index || !take(line, ": ")) return std::nullopt;
  Facts gpu;
  add_fact(gpu, "index", *index);
  add_fact(gpu, "name", text_of(line));
  return gpu;
}

void read_collect_env(const LogText& log, EnvironmentReading& reading) {
  struct Key {
    std::string_view label, name;
    bool word;  // only the first one
  };
  constexpr std::array kKeys{Key{"PyTorch version", "torch", false},
                             Key{"CUDA used to build PyTorch", "cuda_build", false},
                             Key{"OS", "os", false},
                             Key{"Python version", "python", true},
                             Key{"CUDA runtime version", "cuda_runtime", false},
                             Key{"Nvidia driver version", "driver", false}};
  bool open = false, in_gpus = false;
  std::size_t begin = 0;
  Facts facts;
  for (std::size_t i = 0; i < log.lines.size(); ++i) {
    std::string_view line = trimmed(log.lines[i]);
    std::string_view value = line;
    const auto label = take_until(value, ":");  // vLLM's form pads it
    if (label && trimmed(*label) == kKeys[0].label) {
      if (open) break;
      open = true;
      begin = i;
    }
    if (!open) continue;
    for (const Key& key : kKeys) {
      if (label && trimmed(*label) == key.label)
        add_fact(facts, key.name, text_of(key.word ? first_word(value) : value));
    }
    if (label && trimmed(*label) == "GPU models and configuration") {
      in_gpus = true;
      line = value;
    }
    if (!in_gpus) continue;
    auto gpu = listed_gpu(line);
    if (!gpu && !line.empty()) in_gpus = false;
    if (!gpu || reading.lists_gpus || reading.gpus.size() == kEnvironmentLimit) continue;
    reading.gpus.push_back(*std::move(gpu));
  }
  if (!find_fact(facts, "cuda_build")) {  // a program that prints its versions
    if (!reading.lists_gpus) reading.gpus.clear();
    return;
  }
  name_source(reading, "collect_env", begin);
  if (!reading.gpus.empty()) reading.lists_gpus = true;
  for (Fact& fact : facts) add_fact(reading.facts, fact.name, std::move(fact.value));
}

}  // namespace

void add_fact(Facts& facts, std::string_view name, Told value) {
  if (!find_fact(facts, name)) facts.push_back({name, std::move(value)});
}

const Told* find_fact(const Facts& facts, std::string_view name) {
  const auto fact = std::ranges::find(facts, name, &Fact::name);
  return fact == facts.end() ? nullptr : &fact->value;
}

void name_source(EnvironmentReading& reading, std::string_view source, std::size_t log_line) {
  if (!reading.source.empty() && reading.log_line <= log_line) return;
  reading.source = std::string(source);
  reading.log_line = log_line;
}

EnvironmentReading parse_environment(const LogText& log) {
  EnvironmentReading reading;
  read_smi_table(log, reading);
  read_smi_query(log, reading);
  read_smi_csv(log, reading);
  read_smi_list(log, reading);
  CudnnHeader cudnn;
  for (std::size_t i = 0; i < log.lines.size(); ++i) {
    read_nvcc(log.lines[i], i, reading);
    read_driver_file(log.lines[i], i, reading);
    cudnn.line(log.lines[i], i);
  }
  cudnn.finish(reading);
  read_collect_env(log, reading);
  return reading;
}

}  // namespace dsafuzz
