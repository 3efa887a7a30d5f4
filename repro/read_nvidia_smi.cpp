#include "repro/read_nvidia_smi.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "repro/log_text.h"
#include "repro/scan.h"
#include "repro/tsv_table.h"
#include "repro/version_number.h"

namespace dsafuzz {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// Paths of `nvidia-smi -q` (sections joined by /) and the facts of a GPU they are.
constexpr std::array kQueryFacts{Pair{"Product Name", "gpu.name"},
                                 Pair{"GPU UUID", "gpu.uuid"},
                                 Pair{"Persistence Mode", "gpu.persistence"},
                                 Pair{"Display Active", "gpu.display"},
                                 Pair{"MIG Mode/Current", "gpu.mig"},
                                 Pair{"FB Memory Usage/Total", "gpu.memory_mib"},
                                 Pair{"FB Memory Usage/Used", "gpu.used_mib"},
                                 Pair{"Compute Mode", "gpu.compute_mode"},
                                 Pair{"Remapped Rows/Pending", "gpu.remap_pending"},
                                 Pair{"Retired Pages/Pending Page Blacklist", "gpu.remap_pending"},
                                 Pair{"Remapped Rows/Remapping Failure Occurred", "gpu.remap_failed"},
                                 Pair{"GPU Recovery Action", "gpu.recovery"},
                                 Pair{"vGPU Software Licensed Product/License Status", "gpu.license"},
                                 Pair{"MIG Mode/Pending", "gpu.mig_pending"},
                                 Pair{"Fabric/Status", "gpu.fabric_status"},
                                 Pair{"Fabric/State", "gpu.fabric"}};

bool is_nothing(std::string_view value) {
  return value.empty() || value == "N/A" || value == "[N/A]" || value == "[Not Supported]" || value == "None" ||
         value == "ERR!" || value.starts_with("[");
}

void add(FactValues& values, std::string_view name, std::string_view value) {
  if (is_nothing(value) || values.contains(name)) return;
  const bool is_size = name.ends_with("_mib");
  set_fact(values, name, is_size ? std::string_view(version_prefix(value)) : value);
}

void increase(FactValues& values, std::string_view name, std::int64_t by) {
  std::string_view text;
  if (const auto at = values.find(name); at != values.end()) text = at->second;
  set_fact(values, name, std::to_string(take_number(text).value_or(0) + by));
}

void add_driver(MachineFacts& facts, std::string_view driver, std::string_view cuda) {
  add(facts.values, "driver.version", version_prefix(driver));
  add(facts.values, "driver.cuda", version_prefix(cuda));
}

bool is_number(std::string_view text) { return take_number(text) && text.empty(); }

// A text that names more GPUs than any machine has is none of nvidia-smi's; the rest of it goes to the last.
constexpr std::size_t kMostGpus = 256;

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

// A line of -q about one GPU: `path` holds the sections round it and its own key.
void add_query_line(FactValues& gpu, const std::string& path, std::string_view value) {
  for (const auto& [wanted, fact] : kQueryFacts) {
    if (path == wanted) add(gpu, fact, value);
  }
  // Older drivers call them double-bit errors and list each memory before the total.
  const bool double_bits = path.ends_with("Double Bit/Total");
  if (path.starts_with("ECC Errors/Volatile/") && (contains(path, "Uncorrectable") || double_bits)) {
    if (const auto errors = take_number(value)) increase(gpu, "gpu.ecc_uncorrected", *errors);
  }
  if (path == "Processes/Process ID") add_process(gpu, value);
  // What drivers said before they had a recovery action.
  if (path == "GPU Reset Status/Reset Required" && value == "Yes") set_fact(gpu, "gpu.recovery", "GPU Reset");
  if (path == "GPU Reset Status/Drain and Reset Recommended" && value == "Yes")
    add(gpu, "gpu.recovery", "Drain and Reset");
  if (path == "Processes/Process ID/Type" && contains(value, "G")) set_fact(gpu, "gpu.graphics", "yes");
  if (path == "Processes" && value == "None") set_fact(gpu, "gpu.processes", "0");
  if (path.starts_with("MIG Devices") && path.ends_with("Index")) increase(gpu, "gpu.mig_devices", 1);
}

struct Section {
  std::size_t indent;
  std::string name;
};

}  // namespace

void read_smi_query(std::string_view text, MachineFacts& facts) {
  std::vector<Section> sections;
  FactValues* gpu = nullptr;
  std::size_t attached = 0;
  for (const std::string& line : read_log_text(text).lines) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos) continue;
    if (indent == 0 && line.starts_with("GPU ")) {
      gpu = &gpu_with_index(facts, std::to_string(facts.gpus.size()));
      sections.clear();
      continue;
    }
    const std::size_t colon = line.find(" : ");
    const std::string key(trimmed(std::string_view(line).substr(0, colon)));
    const std::string_view value =
        colon == std::string::npos ? std::string_view() : trimmed(std::string_view(line).substr(colon + 3));
    if (!gpu) {
      if (key == "Driver Version" || key == "KMD Version") add_driver(facts, value, {});
      if (key == "CUDA Version" || key == "CUDA UMD Version") add_driver(facts, {}, value);
      if (key == "KMD Version") facts.set("smi.banner", "new");
      std::string_view digits = value;
      if (key == "Attached GPUs") attached = static_cast<std::size_t>(take_number(digits).value_or(0));
      continue;
    }
    while (!sections.empty() && sections.back().indent >= indent) sections.pop_back();
    std::string path;
    for (const Section& section : sections) path += section.name + "/";
    if (colon == std::string::npos) {
      sections.push_back({indent, key});
      if (key == "Processes") increase(*gpu, "gpu.processes", 0);
    } else {
      add_query_line(*gpu, path + key, value);
      // "Process ID : 20117" heads its own section; so does the index of a MIG device.
      if (key == "Process ID") sections.push_back({indent, key});
    }
  }
  if (attached > facts.gpus.size()) facts.set("smi.cut", std::to_string(attached));
}

namespace {

// The three rows of a GPU in the table, by its cells: name, memory and mode, MIG mode.
void add_name_row(std::string_view name, const std::string& bus, const std::string& ecc, FactValues& gpu) {
  const std::size_t end = name.find("  ");
  if (!contains(name.substr(0, end), "...")) add(gpu, "gpu.name", trimmed(name.substr(0, end)));
  if (name.ends_with("On")) add(gpu, "gpu.persistence", "Enabled");
  if (name.ends_with("Off")) add(gpu, "gpu.persistence", "Disabled");
  if (trimmed(bus).ends_with("On")) add(gpu, "gpu.display", "Enabled");
  std::string_view errors = trimmed(ecc);
  if (const auto count = take_number(errors); count && errors.empty())
    add(gpu, "gpu.ecc_uncorrected", std::to_string(*count));
}

void add_memory_row(const std::string& usage, std::string_view mode, FactValues& gpu) {
  std::string_view memory = trimmed(usage);
  add(gpu, "gpu.used_mib", take_until(memory, "MiB /").value_or(""));
  add(gpu, "gpu.memory_mib", trimmed(memory));
  if (mode.ends_with("Default")) add(gpu, "gpu.compute_mode", "Default");
  if (mode.ends_with("E. Process")) add(gpu, "gpu.compute_mode", "Exclusive_Process");
  if (mode.ends_with("Prohibited")) add(gpu, "gpu.compute_mode", "Prohibited");
}

// "0   N/A  N/A   48211   C   python   61220MiB", without the two N/A in old tables.
void add_process_row(std::string_view row, MachineFacts& facts) {
  std::vector<std::string> words;
  for (std::string& word : split(row, ' ')) {
    if (!word.empty()) words.push_back(std::move(word));
  }
  for (std::size_t i = 2; i < words.size() && i < 5; ++i) {
    if (words[i] != "C" && words[i] != "G" && words[i] != "C+G" && words[i] != "M+C") continue;
    if (!is_number(words[0]) || !is_number(words[i - 1])) return;
    FactValues& gpu = gpu_with_index(facts, words[0]);
    add_process(gpu, words[i - 1]);
    if (contains(words[i], "G")) set_fact(gpu, "gpu.graphics", "yes");
    return;
  }
}

}  // namespace

void read_smi_table(std::string_view text, MachineFacts& facts) {
  // -q lists every GPU's processes, and leaves nothing for the table to fill.
  const bool fill =
      std::ranges::none_of(facts.gpus, [](const FactValues& gpu) { return gpu.contains("gpu.processes"); });
  FactValues* gpu = nullptr;
  int row = 0;
  bool in_processes = false;
  for (const std::string& line : read_log_text(text).lines) {
    std::string_view rest = line;
    if (take_until(rest, "Driver Version: ")) add_driver(facts, trimmed(rest), {});
    rest = line;
    if (take_until(rest, "KMD Version: ")) {
      add_driver(facts, trimmed(rest), {});
      facts.set("smi.banner", "new");
    }
    for (const std::string_view label : {"CUDA Version: ", "CUDA UMD Version: "}) {
      rest = line;
      if (take_until(rest, label)) add_driver(facts, {}, trimmed(rest));
    }
    if (!fill) continue;
    const auto cells = split(line, '|');
    if (contains(line, "Processes:")) {
      in_processes = true;
      for (FactValues& one : facts.gpus) increase(one, "gpu.processes", 0);
    } else if (in_processes && cells.size() == 3) {
      add_process_row(cells[1], facts);
    } else if (in_processes || cells.size() != 5) {
      row = 0;
    } else if (row == 0) {
      std::string_view first = trimmed(cells[1]);
      const auto index = take_number(first);
      if (!index || !first.starts_with("  ")) continue;
      gpu = &gpu_with_index(facts, std::to_string(*index));
      add_name_row(trimmed(first), cells[2], cells[3], *gpu);
      row = 1;
    } else if (row == 1) {
      add_memory_row(cells[2], trimmed(cells[3]), *gpu);
      row = 2;
    } else {
      if (trimmed(cells[3]) == "Enabled") add(*gpu, "gpu.mig", "Enabled");
      row = 0;
    }
  }
}

void read_smi_csv(std::string_view text, MachineFacts& facts) {
  constexpr std::array kColumns{Pair{"name", "gpu.name"},
                                Pair{"compute_cap", "gpu.cc"},
                                Pair{"uuid", "gpu.uuid"},
                                Pair{"memory.total [MiB]", "gpu.memory_mib"},
                                Pair{"memory.used [MiB]", "gpu.used_mib"},
                                Pair{"compute_mode", "gpu.compute_mode"},
                                Pair{"mig.mode.current", "gpu.mig"},
                                Pair{"persistence_mode", "gpu.persistence"}};
  std::vector<std::string> header;
  for (const std::string& line : read_log_text(text).lines) {
    auto cells = split(line, ',');
    for (std::string& cell : cells) cell = std::string(trimmed(cell));
    if (header.empty() && cells.front() == "index") {
      header = std::move(cells);
      continue;
    }
    if (header.empty() || cells.size() != header.size() || !is_number(cells.front())) continue;
    FactValues& gpu = gpu_with_index(facts, cells.front());
    for (std::size_t i = 1; i < cells.size(); ++i) {
      for (const auto& [column, fact] : kColumns) {
        if (header[i] == column) add(gpu, fact, cells[i]);
      }
      if (header[i] == "driver_version") add_driver(facts, cells[i], {});
      if (header[i] == "ecc.errors.uncorrected.volatile.total") add(gpu, "gpu.ecc_uncorrected", cells[i]);
    }
  }
}

void read_smi_list(std::string_view text, MachineFacts& facts) {
  FactValues* gpu = nullptr;
  bool counted = false;  // the MIG devices, by -q
  for (const std::string& line : read_log_text(text).lines) {
    std::string_view rest = line;
    if (take(rest, "GPU ")) {
      const auto index = take_until(rest, ": ");
      const auto name = take_until(rest, " (UUID: ");
      if (!index || !name || !is_number(*index)) continue;
      gpu = &gpu_with_index(facts, *index);
      add(*gpu, "gpu.name", *name);
      add(*gpu, "gpu.uuid", take_until(rest, ")").value_or(""));
      counted = gpu->contains("gpu.mig_devices");
      continue;
    }
    if (gpu && contains(rest, "(UUID: MIG-")) {
      if (!counted) increase(*gpu, "gpu.mig_devices", 1);
      add(*gpu, "gpu.mig", "Enabled");
      std::string& uuids = (*gpu)["gpu.mig_uuids"];
      take_until(rest, "(UUID: ");
      uuids += (uuids.empty() ? "" : " ") + std::string(take_until(rest, ")").value_or(""));
    }
  }
}

}  // namespace dsafuzz
