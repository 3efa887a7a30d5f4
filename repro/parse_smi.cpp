// Cells are split at their bars and commas, never at columns: widths differ between releases, and an odd cell pushes
// the rest of its row out of line.
#include "repro/parse_smi.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

std::string_view first_word(std::string_view s) {
  s = trimmed(s);
  return s.substr(0, s.find_first_of(" \t"));
}
std::string_view last_word(std::string_view s) {
  s = trimmed(s);
  const std::size_t blank = s.find_last_of(" \t");
  return blank == std::string_view::npos ? s : s.substr(blank + 1);
}

std::vector<std::string_view> split(std::string_view s, char at) {
  constexpr std::size_t kMost = 64;
  std::vector<std::string_view> parts;
  while (parts.size() < kMost) {
    const std::size_t end = s.find(at);
    parts.push_back(trimmed(s.substr(0, end)));
    if (end == std::string_view::npos) break;
    s.remove_prefix(end + 1);
  }
  return parts;
}

// "412MiB", "23034 MiB", "3%": the number; anything else ("N/A", "ERR!", "[Not Supported]") is not known.
Told number_of(std::string_view s) {
  s = trimmed(s);
  const auto number = take_number(s);
  return number ? Told(*number) : Told();
}

Told text_of(std::string_view s) {
  s = trimmed(s);
  const bool unknown = s.empty() || s == "N/A" || s == "ERR!" || s.starts_with('[');
  return unknown ? Told() : Told(std::string(s));
}

// The word behind `label`, or nothing.
std::optional<std::string_view> word_behind(std::string_view line, std::string_view label) {
  if (!take_until(line, label)) return std::nullopt;
  return first_word(line);
}

// "00000000:0A:00.0"
bool is_bus_id(std::string_view s) {
  return std::ranges::count(s, ':') >= 1 && contains(s, ".") &&
         std::ranges::all_of(s, [](char c) { return is_hex(c) || c == ':' || c == '.'; });
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
  add_fact(gpu, "name", text_of(name));
  add_fact(gpu, "bus", std::string(first_word(cells[1])));
  add_fact(gpu, "ecc", number_of(last_word(cells[2])));
  return gpu;
}

// | fan temp perf power | used / total | util mode |
void add_usage(std::span<const std::string_view> cells, Facts& gpu) {
  if (cells.size() < 3 || !contains(cells[1], "/")) return;
  const auto memory = split(cells[1], '/');
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
      add_fact(process, "name", text_of(name));
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
    if (const auto word = word_behind(line, label)) add_fact(reading.facts, "driver", text_of(*word));
  }
  for (std::string_view label : {"CUDA Version:", "CUDA UMD Version:"}) {
    if (const auto word = word_behind(line, label)) add_fact(reading.facts, "cuda_driver", text_of(*word));
  }
}

// Names of columns that --query-gpu takes, and what they are called here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kColumns{
    {{"index", "index"},
     {"name", "name"},
     {"gpu_name", "name"},
     {"driver_version", "driver"},
     {"kmd_version", "driver"},
     {"pci.bus_id", "bus"},
     {"gpu_bus_id", "bus"},
     {"memory.total", "memory_total_mib"},
     {"memory.used", "memory_used_mib"},
     {"utilization.gpu", "util"},
     {"ecc.errors.uncorrected.volatile.total", "ecc"},
     {"ecc.errors.uncorrected.volatile.device_memory", "ecc"}}};

// "memory.total [MiB]": a field's name with its unit.
bool is_column(std::string_view cell) {
  const std::string_view name = first_word(cell);
  const std::string_view unit = trimmed(cell.substr(name.size()));
  const bool lower = std::ranges::all_of(
      name, [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_' || c == '.' || c == '-'; });
  return !name.empty() && lower && (unit.empty() || (unit.starts_with('[') && unit.ends_with(']')));
}

std::string_view fact_of_column(std::string_view cell) {
  const std::string_view name = first_word(cell);
  const auto known = std::ranges::find(kColumns, name, [](const auto& column) { return column.first; });
  return known == kColumns.end() ? std::string_view() : known->second;
}

// Two columns at least, one of them with a dot, a unit or a name that no prose has.
bool is_csv_header(const std::vector<std::string_view>& cells) {
  if (cells.empty() || !std::ranges::all_of(cells, is_column)) return false;
  const auto telling = [](std::string_view cell) {
    const std::string_view name = first_word(cell);
    return !fact_of_column(cell).empty() && (contains(cell, "[") || contains(name, ".") || contains(name, "_"));
  };
  if (std::ranges::any_of(cells, telling)) return true;
  return cells.size() == 2 && cells[0] == "index" && cells[1] == "name";
}

void read_csv_row(const std::vector<std::string_view>& header, const std::vector<std::string_view>& cells,
                  EnvironmentReading& reading) {
  Facts gpu;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string_view name = fact_of_column(header[i]);
    if (name == "driver") {
      add_fact(reading.facts, name, text_of(cells[i]));
    } else if (name == "name" || name == "bus") {
      add_fact(gpu, name, text_of(cells[i]));
    } else if (!name.empty()) {
      add_fact(gpu, name, number_of(cells[i]));
    }
  }
  if (!gpu.empty() && reading.gpus.size() < kEnvironmentLimit) reading.gpus.push_back(std::move(gpu));
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
    const auto cells = split(line, '|');
    if (usage_next && gpus_wanted) add_usage(cells, reading.gpus.back());
    usage_next = false;
    if (auto gpu = table_gpu(cells); gpu && gpus_wanted && reading.gpus.size() < kEnvironmentLimit) {
      reading.gpus.push_back(*std::move(gpu));
      reading.lists_gpus = usage_next = true;
    }
  }
  if (in_table && !in_processes) reading.cut = true;
}

void read_smi_query(const LogText& log, EnvironmentReading& reading) {
  bool open = false;
  std::string section;
  std::int64_t attached = 0, seen = 0, whole = 0;
  const bool gpus_wanted = !reading.lists_gpus;
  for (std::size_t i = 0; i < log.lines.size(); ++i) {
    const std::string& line = log.lines[i];
    if (contains(line, "NVSMI LOG=====")) {
      if (open) break;
      open = true;
      name_source(reading, "nvidia-smi -q", i);
      continue;
    }
    if (!open) continue;
    const std::size_t colon = line.find(" : ");
    const std::string_view key = trimmed(std::string_view(line).substr(0, colon));
    if (colon == std::string::npos) {
      section = std::string(key);
      std::string_view bus = key;
      if (!take(bus, "GPU ") || !is_bus_id(bus)) continue;
      ++seen;
      if (!gpus_wanted || reading.gpus.size() == kEnvironmentLimit) continue;
      reading.lists_gpus = true;
      reading.gpus.push_back({});
      add_fact(reading.gpus.back(), "bus", std::string(bus));
      continue;
    }
    const std::string_view value = std::string_view(line).substr(colon + 3);
    if (key == "Driver Version" || key == "KMD Version") add_fact(reading.facts, "driver", text_of(first_word(value)));
    if (key == "CUDA Version" || key == "CUDA UMD Version") {
      add_fact(reading.facts, "cuda_driver", text_of(first_word(value)));
    }
    if (key == "Attached GPUs") {
      std::string_view digits = trimmed(value);
      attached = take_number(digits).value_or(0);
    }
    if (seen == 0 || !gpus_wanted) continue;
    Facts& gpu = reading.gpus.back();
    if (key == "Product Name") add_fact(gpu, "name", text_of(value));
    if (section != "FB Memory Usage") continue;
    if (key == "Total") add_fact(gpu, "memory_total_mib", number_of(value));
    if (key == "Used") {
      add_fact(gpu, "memory_used_mib", number_of(value));
      ++whole;
    }
  }
  if (open && gpus_wanted && (seen < attached || whole < seen)) reading.cut = true;
}

void read_smi_csv(const LogText& log, EnvironmentReading& reading) {
  for (std::size_t i = 0; i < log.lines.size() && !reading.lists_gpus; ++i) {
    const std::string& line = log.lines[i];
    constexpr std::size_t kLongest = 4096;
    if (line.size() > kLongest || !(contains(line, ",") || contains(line, "["))) continue;
    const auto header = split(line, ',');
    if (!is_csv_header(header)) continue;
    for (std::size_t row = i + 1; row < log.lines.size(); ++row) {
      const auto cells = split(log.lines[row], ',');
      if (cells.size() != header.size() || std::ranges::any_of(cells, &std::string_view::empty)) break;
      read_csv_row(header, cells, reading);
      reading.lists_gpus = true;
    }
    if (reading.lists_gpus) name_source(reading, "nvidia-smi csv", i);
  }
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
      add_fact(reading.gpus.back(), "name", text_of(line.substr(0, line.find(" (UUID: "))));
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
