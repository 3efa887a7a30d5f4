#include "repro/smi_facts.h"

#include "repro/scan.h"
#include "repro/version_number.h"

namespace dsafuzz {
namespace {

bool is_nothing(std::string_view value) {
  return value.empty() || value == "N/A" || value == "[N/A]" || value == "[Not Supported]" || value == "None" ||
         value == "ERR!" || value == "Unknown Error" || value == "GPU is lost" || value == "Not Supported" ||
         value == "Requested functionality has been deprecated" || value.starts_with("[");
}

// A text that names more GPUs than any machine has is none of nvidia-smi's; the rest of it goes to the last.
constexpr std::size_t kMostGpus = 256;

}  // namespace

void add_if_new(FactValues& values, std::string_view name, std::string_view value) {
  if (is_nothing(value)) return;
  const bool is_size = name.ends_with("_mib");
  set_if_new(values, name, is_size ? std::string_view(version_prefix(value)) : value);
}

void increase(FactValues& values, std::string_view name, std::int64_t by) {
  std::string_view text;
  if (const auto at = values.find(name); at != values.end()) text = at->second;
  set_fact(values, name, std::to_string(take_number(text).value_or(0) + by));
}

void add_driver(MachineFacts& facts, std::string_view driver, std::string_view cuda) {
  add_if_new(facts.values, "driver.version", version_prefix(driver));
  add_if_new(facts.values, "driver.cuda", version_prefix(cuda));
}

bool is_number(std::string_view text) { return take_number(text) && text.empty(); }

FactValues& gpu_with_index(MachineFacts& facts, std::string_view index) {
  for (FactValues& gpu : facts.gpus) {
    if (gpu["gpu.index"] == index) return gpu;
  }
  if (facts.gpus.size() == kMostGpus) return facts.gpus.back();
  facts.gpus.emplace_back();
  set_fact(facts.gpus.back(), "gpu.index", index);
  return facts.gpus.back();
}

void add_process(FactValues& gpu, std::string_view number) {
  increase(gpu, "gpu.processes", 1);
  std::string& numbers = gpu["gpu.pids"];
  constexpr std::size_t kMostCharacters = 8192;
  if (numbers.size() < kMostCharacters) numbers += (numbers.empty() ? "" : " ") + std::string(number);
}

}  // namespace dsafuzz
