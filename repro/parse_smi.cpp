// Cells are split at their bars and commas, never at columns: widths differ between releases, and an odd cell pushes
// the rest of its row out of line.
#include "repro/parse_smi.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "repro/scan.h"
#include "repro/smi_cells.h"

namespace dsafuzz {
namespace {

// The word behind `label`, or nothing.
std::optional<std::string_view> word_behind(std::string_view line, std::string_view label) {
  if (!take_until(line, label)) return std::nullopt;
  return first_word(line);
}

// | index  NAME  Off | BUS Off | ecc |
std::optional<Facts> table_gpu(std::span<const std::string_view> cells) {
  if (cells.size() < 3 || !is_bus_id(first_word(cells[1]))) return std::nullopt;
  std::string_view name = cells[0];
  const auto index = take_number(name);
  if (!index || !name.starts_with(' ')) return std::nullopt;
  name = trimmed(name);
  for (std::string_view mode : {"On", "Off", "N/A", "WDDM", "TCC", "MCDM", "ERR!"}) {
    if (last_word(name) == mode) {
      name.remove_suffix(mode.size());
      name = trimmed(name);
      break;
    }
  }
  Facts gpu;
  add_fact(gpu, "index", *index);
  add_fact(gpu, "name", text_of_cell(name));
  add_fact(gpu, "bus", std::string(first_word(cells[1])));
  add_fact(gpu, "ecc", number_of(last_word(cells[2])));
  return gpu;
}

// | fan temp perf power | used / total | util mode |
void add_usage(std::span<const std::string_view> cells, Facts& gpu) {
  if (cells.size() < 3 || !contains(cells[1], "/")) return;
  const auto memory = cells_of(cells[1], '/');
  add_fact(gpu, "memory_used_mib", number_of(memory[0]));
  add_fact(gpu, "memory_total_mib", number_of(memory[1]));
  add_fact(gpu, "util", number_of(first_word(cells[2])));
}

// gpu [gi ci] pid type NAME memory: the type stands behind the second or the fourth word.
std::optional<Facts> table_process(std::string_view row) {
  std::string_view rest = trimmed(row);
  const auto gpu = take_number(rest);
  if (!gpu) return std::nullopt;
  std::string_view pid;
  for (int i = 0; i < 4; ++i) {
    rest = trimmed(rest);
    const std::string_view word = first_word(rest);
    const bool type = word == "C" || word == "G" || word == "C+G" || word == "M+C" || word == "M";
    if (type && !pid.empty()) {
      rest.remove_prefix(word.size());
      const std::string_view memory = last_word(rest);
      std::string_view name = trimmed(rest);
      name.remove_suffix(std::min(memory.size(), name.size()));
      Facts process;
      add_fact(process, "gpu", *gpu);
      add_fact(process, "pid", number_of(pid));
      add_fact(process, "type", std::string(word));
      add_fact(process, "name", text_of_cell(name));
      add_fact(process, "mib", number_of(memory));
      return process;
    }
    pid = word;
    rest.remove_prefix(word.size());
  }
  return std::nullopt;
}

// The banner: `Driver Version` up to R595, `KMD Version` and `CUDA UMD Version` from R610 on.
void read_banner(std::string_view line, EnvironmentReading& reading) {
  for (std::string_view label : {"Driver Version:", "KMD Version:"}) {
    if (const auto word = word_behind(line, label)) add_fact(reading.facts, "driver", text_of_cell(*word));
  }
  for (std::string_view label : {"CUDA Version:", "CUDA UMD Version:"}) {
    if (const auto word = word_behind(line, label)) add_fact(reading.facts, "cuda_driver", text_of_cell(*word));
  }
}

}  // namespace

void read_smi_table(const LogText& log, EnvironmentReading& reading) {
  bool in_table = false, in_processes = false, usage_next = false;
  const bool gpus_wanted = !reading.lists_gpus;
  for (std::size_t i = 0; i < log.lines.size(); ++i) {
    std::string_view line = trimmed(log.lines[i]);
    if (contains(line, "NVIDIA-SMI ") && (contains(line, "Driver Version:") || contains(line, "KMD Version:"))) {
      if (in_table) break;  // one table is enough
      in_table = true;
      name_source(reading, "nvidia-smi table", i);
      read_banner(line, reading);
      continue;
    }
    if (!in_table || !take(line, "|")) continue;
    if (contains(line, "Processes:")) in_processes = reading.lists_processes = true;
    if (in_processes) {
      if (line.ends_with('|')) line.remove_suffix(1);
      auto process = table_process(line);
      if (process && reading.processes.size() < kEnvironmentLimit) reading.processes.push_back(*std::move(process));
      continue;
    }
    const auto cells = cells_of(line, '|');
    if (usage_next && gpus_wanted) add_usage(cells, reading.gpus.back());
    usage_next = false;
    if (auto gpu = table_gpu(cells); gpu && gpus_wanted && reading.gpus.size() < kEnvironmentLimit) {
      reading.gpus.push_back(*std::move(gpu));
      reading.lists_gpus = usage_next = true;
    }
  }
  if (in_table && !in_processes) reading.cut = true;
}

void read_smi_list(const LogText& log, EnvironmentReading& reading) {
  const bool gpus_wanted = !reading.lists_gpus;
  for (std::size_t i = 0; i < log.lines.size(); ++i) {
    std::string_view line = trimmed(log.lines[i]);
    const std::size_t uuid = line.find(" (UUID: ");
    if (uuid != std::string_view::npos && take(line, "GPU ")) {
      const auto index = take_number(line);
      if (!index || !take(line, ": ")) continue;
      name_source(reading, "nvidia-smi -L", i);
      if (!gpus_wanted || reading.gpus.size() == kEnvironmentLimit) continue;
      reading.lists_gpus = true;
      reading.gpus.push_back({});
      add_fact(reading.gpus.back(), "index", *index);
      add_fact(reading.gpus.back(), "name", text_of_cell(line.substr(0, line.find(" (UUID: "))));
    } else if (gpus_wanted && reading.lists_gpus && contains(line, "(UUID: MIG-") && take(line, "MIG ")) {
      Facts& gpu = reading.gpus.back();
      add_fact(gpu, "mig", std::vector<std::string>());
      for (Fact& fact : gpu) {
        auto* slices = std::get_if<std::vector<std::string>>(&fact.value);
        if (slices && slices->size() < kEnvironmentLimit) slices->emplace_back(first_word(line));
      }
    }
  }
}

}  // namespace dsafuzz
