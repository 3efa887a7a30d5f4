#include "repro/derive_gpu_facts.h"

#include <algorithm>
#include <set>
#include <string>

#include "repro/scan.h"
#include "repro/tsv_table.h"
#include "repro/version_number.h"

namespace dsafuzz {
namespace {

std::string_view value_of(const FactValues& values, std::string_view name) {
  const auto at = values.find(name);
  return at == values.end() ? std::string_view() : std::string_view(at->second);
}

std::int64_t number_of(const FactValues& values, std::string_view name) {
  std::string_view text = value_of(values, name);
  return take_number(text).value_or(0);
}

// Machine code runs on the same major capability and an equal or higher minor one. The capabilities of Tegra parts are
// islands: nothing else runs there, and their code runs nowhere else.
bool code_runs(std::string_view code, std::string_view device) {
  static const std::set<std::string, std::less<>> kTegra{"5.3", "6.2", "7.2", "8.7", "10.1", "11.0"};
  if (code == device) return true;
  if (kTegra.contains(code) || kTegra.contains(device)) return false;
  return version_head(code, 1) == version_head(device, 1) && compare_versions(code, device) <= 0;
}

// Whether code for one of the listed capabilities ("8.0;8.6;9.0+PTX") runs on the device. PTX runs on all later ones.
bool list_runs(std::string_view list, std::string_view device) {
  std::string with_semicolons(list);
  std::ranges::replace(with_semicolons, ' ', ';');
  for (const std::string& entry : split(with_semicolons, ';')) {
    const std::string code = version_prefix(entry);
    if (code.empty()) continue;
    if (code_runs(code, device)) return true;
    if (contains(entry, "+PTX") && compare_versions(code, device) <= 0) return true;
  }
  return false;
}

void add_to_gpu(const VersionTables& tables, const MachineFacts& facts, FactValues& gpu) {
  set_if_new(gpu, "gpu.cc", tables.capability(value_of(gpu, "gpu.name")));
  set_fact(gpu, "gpu.last_torch", tables.last_torch(value_of(gpu, "gpu.name")));
  const std::string_view capability = value_of(gpu, "gpu.cc");
  const std::string_view holds = facts.value("pin.sass"), list = facts.value("env.TORCH_CUDA_ARCH_LIST");
  if (!capability.empty() && !holds.empty()) set_fact(gpu, "gpu.runs", list_runs(holds, capability) ? "yes" : "no");
  if (!capability.empty() && !list.empty() && is_digit(list.front()))
    set_fact(gpu, "gpu.in_arch_list", list_runs(list, capability) ? "yes" : "no");
  set_fact(gpu, "gpu.mig_floor", tables.mig_driver_floor(value_of(gpu, "gpu.name")));
  if (value_of(gpu, "gpu.mig") == "Enabled") set_if_new(gpu, "gpu.mig_devices", "0");

  const std::string_view living = facts.value("process.living");
  std::string dead;
  std::size_t alive = 0;
  for (const std::string& pid : split(value_of(gpu, "gpu.pids"), ' ')) {
    if (pid.empty() || living.empty()) continue;
    if (contains(living, " " + pid + " ")) {
      ++alive;
    } else {
      dead += (dead.empty() ? "" : ", ") + pid;
    }
  }
  set_fact(gpu, "gpu.dead_processes", dead);
  const std::int64_t total = number_of(gpu, "gpu.memory_mib");
  if (alive == 0 && total > 0 && !living.empty() && gpu.contains("gpu.processes"))
    set_fact(gpu, "gpu.held_percent", std::to_string(100 * number_of(gpu, "gpu.used_mib") / total));
}

// What the machine's own lack of GPUs means.
void judge_absence(MachineFacts& facts) {
  const auto is = [&](std::string_view name, std::string_view value) { return facts.value(name) == value; };
  if (!facts.gpus.empty()) return;
  const std::string_view on_bus = facts.value("pci.gpus");
  const bool host_has_gpus = facts.find("driver.module") || (!on_bus.empty() && on_bus != "0");
  const bool no_way_in =
      is("dev.control", "missing") || (facts.find("libraries.listed") && !facts.find("driver.libcuda"));
  if (is("os.container", "yes") && is("smi.missing", "yes") && host_has_gpus && no_way_in)
    return facts.set("os.without_gpus", "yes");
  const bool looked_in_vain = facts.find("smi.failure") || facts.find("smi.unreadable") || facts.find("driver.nouveau");
  if (!facts.find("driver.version") && !looked_in_vain && (on_bus.empty() || on_bus == "0") && !is("os.tegra", "yes"))
    facts.set("gpus.none", "yes");
}

void compare_gpus(const VersionTables& tables, MachineFacts& facts) {
  std::set<std::string> models, capabilities, all_models;
  std::string last_driver;
  std::int64_t smallest = 0, largest = 0;
  std::size_t visible = 0;
  for (const FactValues& gpu : facts.gpus) {
    if (gpu.contains("gpu.name")) all_models.emplace(value_of(gpu, "gpu.name"));
    const std::string driver = tables.last_driver(value_of(gpu, "gpu.cc"));
    if (last_driver.empty() || (!driver.empty() && compare_versions(driver, last_driver) < 0)) last_driver = driver;
    if (value_of(gpu, "gpu.visible") == "no") continue;
    ++visible;
    if (gpu.contains("gpu.name")) models.emplace(value_of(gpu, "gpu.name"));
    if (gpu.contains("gpu.cc")) capabilities.emplace(value_of(gpu, "gpu.cc"));
    const std::int64_t memory = number_of(gpu, "gpu.memory_mib");
    if (memory == 0) continue;
    smallest = smallest == 0 ? memory : std::min(smallest, memory);
    largest = std::max(largest, memory);
  }
  const auto several = [](const std::set<std::string>& found, const std::string& between) {
    std::string text;
    for (const std::string& one : found) text += (text.empty() ? "" : between) + one;
    return found.size() > 1 ? text : std::string();
  };
  facts.set("gpus.count", std::to_string(facts.gpus.size()));
  facts.set("gpus.visible", std::to_string(visible));
  facts.set("gpus.models", several(models, ", "));
  facts.set("gpus.last_driver", last_driver);
  const std::string_view entries = facts.value("cvd.kind");  // UUIDs mean the same in every order
  if (facts.value("env.CUDA_DEVICE_ORDER") != "PCI_BUS_ID" && (entries.empty() || entries == "index"))
    facts.set("gpus.by_speed", several(all_models, ", "));
  facts.set("gpus.capabilities", several(capabilities, ";"));
  if (largest > 0) facts.set("gpus.smallest_percent", std::to_string(100 * smallest / largest));
}

}  // namespace

void derive_gpu_facts(const VersionTables& tables, MachineFacts& facts) {
  for (FactValues& gpu : facts.gpus) add_to_gpu(tables, facts, gpu);
  compare_gpus(tables, facts);
  judge_absence(facts);
}

}  // namespace dsafuzz
