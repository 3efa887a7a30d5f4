// nvidia-smi's forms without a drawn table: -q and --format=csv.
#include <algorithm>
#include <array>
#include <utility>

#include "repro/parse_smi.h"
#include "repro/scan.h"
#include "repro/smi_cells.h"

namespace dsafuzz {
namespace {

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
      add_fact(reading.facts, name, text_of_cell(cells[i]));
    } else if (name == "name" || name == "bus") {
      add_fact(gpu, name, text_of_cell(cells[i]));
    } else if (!name.empty()) {
      add_fact(gpu, name, number_of(cells[i]));
    }
  }
  if (!gpu.empty() && reading.gpus.size() < kEnvironmentLimit) reading.gpus.push_back(std::move(gpu));
}

}  // namespace

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
    if (key == "Driver Version" || key == "KMD Version")
      add_fact(reading.facts, "driver", text_of_cell(first_word(value)));
    if (key == "CUDA Version" || key == "CUDA UMD Version") {
      add_fact(reading.facts, "cuda_driver", text_of_cell(first_word(value)));
    }
    if (key == "Attached GPUs") {
      std::string_view digits = trimmed(value);
      attached = take_number(digits).value_or(0);
    }
    if (seen == 0 || !gpus_wanted) continue;
    Facts& gpu = reading.gpus.back();
    if (key == "Product Name") add_fact(gpu, "name", text_of_cell(value));
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
    const auto header = cells_of(line, ',');
    if (!is_csv_header(header)) continue;
    for (std::size_t row = i + 1; row < log.lines.size(); ++row) {
      const auto cells = cells_of(log.lines[row], ',');
      if (cells.size() != header.size() || std::ranges::any_of(cells, &std::string_view::empty)) break;
      read_csv_row(header, cells, reading);
      reading.lists_gpus = true;
    }
    if (reading.lists_gpus) name_source(reading, "nvidia-smi csv", i);
  }
}

}  // namespace dsafuzz
