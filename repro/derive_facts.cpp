#include "repro/derive_facts.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "repro/scan.h"
#include "repro/version_number.h"
#include "repro/visible_devices.h"

namespace dsafuzz {
namespace {

void add(FactValues& values, std::string_view name, std::string_view value) {
  if (!values.contains(name)) set_fact(values, name, value);
}

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

// "8.0;8.6" and PTX "9.0" as one list.
std::string with_ptx(const std::string& machine_code, const std::string& ptx) {
  return ptx.empty() ? machine_code : machine_code + ";" + ptx + "+PTX";
}

// Jetson's driver is part of JetPack, which numbered it as its own releases (35.4) before it took the driver's numbers.
std::string driver_floor(const VersionTables& tables, std::string_view cuda, const MachineFacts& facts) {
  const bool own_numbers =
      facts.value("os.tegra") == "yes" && compare_versions(facts.value("driver.version"), "100") < 0;
  return own_numbers ? std::string() : tables.driver_floor(cuda, facts.value("os.windows") == "yes");
}

void add_pins(const VersionTables& tables, MachineFacts& facts) {
  facts.set("python.version_minor", version_head(facts.value("python.version"), 2));
  const std::string cuda(facts.value("torch.cuda"));
  facts.set("torch.cuda_major", is_digit(cuda.empty() ? 'n' : cuda.front()) ? version_head(cuda, 1) : "");
  facts.set("pin.driver_floor", driver_floor(tables, cuda, facts));
  if (facts.value("os.tegra") != "yes")
    facts.set("pin.driver_release", tables.driver_of_release(cuda, facts.value("os.windows") == "yes"));
  facts.set("known.python_max", tables.newest_python());
  if (facts.value("torch.version").empty() || !facts.find("torch.cuda_major")) return;
  if (facts.value("torch.own_build") == "yes") return facts.set("pin.known", "no");
  const auto build = tables.torch_build(facts.value("torch.version"), cuda);
  facts.set("pin.known", build ? "yes" : "no");
  if (!build) return;
  add(facts.values, "pin.cudnn", build->cudnn);
  add(facts.values, "pin.nccl", build->nccl);
  facts.set("pin.python_min", build->python_min);
  facts.set("pin.python_max", build->python_max);
  const bool arm = facts.value("os.arch") == "aarch64";
  const bool same = build->sass_aarch64.starts_with("same");
  // No released wheel has code for a Jetson's GPU, whichever it is.
  const bool other = arm && !same && (!build->sass_aarch64.empty() || facts.value("os.tegra") != "yes");
  facts.set("pin.sass", other ? build->sass_aarch64 : with_ptx(build->sass_x86_64, build->ptx_x86_64));
  if (facts.value("os.windows") != "yes") facts.set("pin.driver_named", build->driver_named);
}

// PyTorch's builds bring their cuDNN, in torch/lib or as a wheel, and what the system has counts only where a path puts
// it first; a build of one's own takes the system's.
void add_cudnn(MachineFacts& facts) {
  facts.set("wheel.cudnn_three", version_head(facts.value("wheel.cudnn"), 3));
  const std::string_view bundled = facts.value("cudnn.bundled");
  facts.set("cudnn.used", bundled == "yes" ? facts.value("pin.cudnn") : bundled);
  for (const std::string_view source : {"wheel.cudnn", "cudnn.path"})
    add(facts.values, "cudnn.used", facts.value(source));
  if (facts.value("pin.known") != "yes") add(facts.values, "cudnn.used", facts.value("cudnn.loader"));
  for (const std::string name : {"cudnn.used", "cudnn.header", "pin.cudnn"}) {
    facts.set(name + "_major", version_head(facts.value(name), 1));
    facts.set(name + "_minor", version_head(facts.value(name), 2));
  }
}

void add_compilers(const VersionTables& tables, MachineFacts& facts) {
  const std::string nvcc(facts.value("nvcc.version"));
  facts.set("nvcc.driver_floor", driver_floor(tables, nvcc, facts));
  if (const auto limits = tables.host_compilers(nvcc)) {
    facts.set("nvcc.gcc_max", limits->gcc_max);
    // Packages have the first number alone: where only 11.1 will do, g++-11 will not.
    std::string_view newest = limits->gcc_max;
    const auto whole = take_number(newest);
    if (whole) facts.set("nvcc.gcc_package", std::to_string(newest.empty() ? *whole : *whole - 1));
    facts.set("nvcc.clang_max", limits->clang_max);
    facts.set("nvcc.torch_gcc_below", limits->torch_gcc_below);
    facts.set("compiler.gcc_limit", version_head(facts.value("compiler.gcc"), version_parts(limits->gcc_max)));
  }
}

// Entries of TORCH_CUDA_ARCH_LIST that the installed nvcc has dropped or does not know yet.
void add_arch_list(const VersionTables& tables, MachineFacts& facts) {
  std::string list(facts.value("env.TORCH_CUDA_ARCH_LIST"));
  if (list.empty()) return;
  std::ranges::replace(list, ' ', ';');
  std::string removed;
  for (const std::string& entry : split(list, ';')) {
    const std::string capability = version_prefix(entry);
    if (capability.empty() || facts.value("nvcc.version").empty()) continue;
    if (tables.nvcc_builds_for(capability, facts.value("nvcc.version"))) continue;
    removed += (removed.empty() ? "" : ", ") + capability;
  }
  facts.set("nvcc.removed_arches", removed);
}

void add_to_gpu(const VersionTables& tables, const MachineFacts& facts, FactValues& gpu) {
  add(gpu, "gpu.cc", tables.capability(value_of(gpu, "gpu.name")));
  set_fact(gpu, "gpu.last_torch", tables.last_torch(value_of(gpu, "gpu.name")));
  const std::string_view capability = value_of(gpu, "gpu.cc");
  const std::string_view holds = facts.value("pin.sass"), list = facts.value("env.TORCH_CUDA_ARCH_LIST");
  if (!capability.empty() && !holds.empty()) set_fact(gpu, "gpu.runs", list_runs(holds, capability) ? "yes" : "no");
  if (!capability.empty() && !list.empty() && is_digit(list.front()))
    set_fact(gpu, "gpu.in_arch_list", list_runs(list, capability) ? "yes" : "no");
  set_fact(gpu, "gpu.mig_floor", tables.mig_driver_floor(value_of(gpu, "gpu.name")));
  if (value_of(gpu, "gpu.mig") == "Enabled") add(gpu, "gpu.mig_devices", "0");

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

void derive_facts(const VersionTables& tables, MachineFacts& facts) {
  if (!facts.find("driver.version")) facts.set("driver.version", facts.value("driver.module"));
  const std::string_view own = facts.value("driver.version"), loaded = facts.value("driver.libcuda_version");
  const bool compat = contains(facts.value("driver.libcuda"), "/compat") && compare_versions(loaded, own) > 0;
  facts.set("driver.user", compat ? loaded : own);
  facts.set("driver.cuda_major", version_head(facts.value("driver.cuda"), 1));
  facts.set("ptxas.major", version_head(facts.value("ptxas.version"), 1));
  add_pins(tables, facts);
  add_cudnn(facts);
  add_compilers(tables, facts);
  add_arch_list(tables, facts);
  judge_visible_devices(facts);
  for (FactValues& gpu : facts.gpus) add_to_gpu(tables, facts, gpu);
  compare_gpus(tables, facts);
  judge_absence(facts);
}

}  // namespace dsafuzz
