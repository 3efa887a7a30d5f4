// The table that `nvidia-smi` alone prints.
#include <algorithm>
#include <string>
#include <vector>

#include "repro/log_text.h"
#include "repro/read_nvidia_smi.h"
#include "repro/scan.h"
#include "repro/smi_facts.h"
#include "repro/tsv_table.h"

namespace dsafuzz {
namespace {

// The three rows of a GPU in the table, by its cells: name, memory and mode, MIG mode.
void add_name_row(std::string_view name, const std::string& bus, const std::string& ecc, FactValues& gpu) {
  const std::size_t end = name.find("  ");
  if (!contains(name.substr(0, end), "...")) add_if_new(gpu, "gpu.name", trimmed(name.substr(0, end)));
  if (name.ends_with("On")) add_if_new(gpu, "gpu.persistence", "Enabled");
  if (name.ends_with("Off")) add_if_new(gpu, "gpu.persistence", "Disabled");
  if (trimmed(bus).ends_with("On")) add_if_new(gpu, "gpu.display", "Enabled");
  std::string_view errors = trimmed(ecc);
  if (const auto count = take_number(errors); count && errors.empty())
    add_if_new(gpu, "gpu.ecc_uncorrected", std::to_string(*count));
}

void add_memory_row(const std::string& usage, std::string_view mode, FactValues& gpu) {
  std::string_view memory = trimmed(usage);
  add_if_new(gpu, "gpu.used_mib", take_until(memory, "MiB /").value_or(""));
  add_if_new(gpu, "gpu.memory_mib", trimmed(memory));
  if (mode.ends_with("Default")) add_if_new(gpu, "gpu.compute_mode", "Default");
  if (mode.ends_with("E. Process")) add_if_new(gpu, "gpu.compute_mode", "Exclusive_Process");
  if (mode.ends_with("Prohibited")) add_if_new(gpu, "gpu.compute_mode", "Prohibited");
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
      if (trimmed(cells[3]) == "Enabled") add_if_new(*gpu, "gpu.mig", "Enabled");
      row = 0;
    }
  }
}

}  // namespace dsafuzz
