#include "repro/derive_facts.h"

#include <algorithm>
#include <string>
#include <vector>

#include "repro/derive_gpu_facts.h"
#include "repro/scan.h"
#include "repro/version_number.h"
#include "repro/visible_devices.h"

namespace dsafuzz {
namespace {

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
  set_if_new(facts.values, "pin.cudnn", build->cudnn);
  set_if_new(facts.values, "pin.nccl", build->nccl);
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
    set_if_new(facts.values, "cudnn.used", facts.value(source));
  if (facts.value("pin.known") != "yes") set_if_new(facts.values, "cudnn.used", facts.value("cudnn.loader"));
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
  derive_gpu_facts(tables, facts);
}

}  // namespace dsafuzz
