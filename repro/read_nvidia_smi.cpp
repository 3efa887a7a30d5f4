#include "repro/read_nvidia_smi.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "repro/log_text.h"
#include "repro/scan.h"
#include "repro/smi_facts.h"
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

// A line of -q about one GPU: `path` holds the sections round it and its own key.
void add_query_line(FactValues& gpu, const std::string& path, std::string_view value) {
  for (const auto& [wanted, fact] : kQueryFacts) {
    if (path == wanted) add_if_new(gpu, fact, value);
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
    add_if_new(gpu, "gpu.recovery", "Drain and Reset");
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
        if (header[i] == column) add_if_new(gpu, fact, cells[i]);
      }
      if (header[i] == "driver_version") add_driver(facts, cells[i], {});
      if (header[i] == "ecc.errors.uncorrected.volatile.total") add_if_new(gpu, "gpu.ecc_uncorrected", cells[i]);
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
      add_if_new(*gpu, "gpu.name", *name);
      add_if_new(*gpu, "gpu.uuid", take_until(rest, ")").value_or(""));
      counted = gpu->contains("gpu.mig_devices");
      continue;
    }
    if (gpu && contains(rest, "(UUID: MIG-")) {
      if (!counted) increase(*gpu, "gpu.mig_devices", 1);
      add_if_new(*gpu, "gpu.mig", "Enabled");
      std::string& uuids = (*gpu)["gpu.mig_uuids"];
      take_until(rest, "(UUID: ");
      uuids += (uuids.empty() ? "" : " ") + std::string(take_until(rest, ")").value_or(""));
    }
  }
}

}  // namespace dsafuzz
