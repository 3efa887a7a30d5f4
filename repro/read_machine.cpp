#include "repro/read_machine.h"

#include "repro/derive_facts.h"
#include "repro/log_text.h"
#include "repro/read_installation.h"
#include "repro/read_libraries.h"
#include "repro/read_nvidia_smi.h"
#include "repro/read_system.h"
#include "repro/scan.h"
#include "repro/smi_extent.h"
#include "repro/smi_failure.h"
#include "repro/version_number.h"

namespace dsafuzz {
namespace {

using Reader = void (*)(std::string_view, MachineFacts&);

void read_ptxas(std::string_view text, MachineFacts& facts) {
  if (take_until(text, "release ")) facts.set("ptxas.version", version_prefix(text));
}

// Of two that know the same thing the first is believed, and some readers need what others found.
constexpr std::pair<std::string_view, Reader> kReaders[]{
    {"environment.txt", read_environment},
    {"driver-module.txt", read_driver_module},
    {"nvidia-smi-q.txt", read_smi_query},
    {"nvidia-smi-csv.txt", read_smi_csv},
    {"nvidia-smi-list.txt", read_smi_list},
    {"nvidia-smi.txt", read_smi_table},
    {"kernel.txt", read_kernel},
    {"kernel-log.txt", read_kernel_log},
    {"modules.txt", read_modules},
    {"devices.txt", read_devices},
    {"pci.txt", read_pci},
    {"processes.txt", read_processes},
    {"limits.txt", read_limits},
    {"python.txt", read_python},
    {"torch-version.txt", read_torch_version},
    {"torch-metadata.txt", read_torch_metadata},
    {"cudnn-header.txt", read_cudnn_header},
    {"nvcc.txt", read_nvcc_version},
    {"compiler.txt", read_compiler_version},
    {"ptxas.txt", read_ptxas},
    {"device-code.txt", read_device_code},
    {"collect_env.txt", read_collect_env},
};

// Which wheels belong to another CUDA version depends on PyTorch's, so these come last.
constexpr std::pair<std::string_view, Reader> kLateReaders[]{{"wheels.txt", read_wheels},
                                                             {"libraries.txt", read_libraries}};

// PowerShell writes what a program prints as UTF-16, which no reader but that of logs knows.
std::string as_bytes(const std::string& text) {
  if (!contains(text, std::string_view("\0", 1))) return text;
  std::string result;
  for (const std::string& line : read_log_text(text).lines) result += line + "\n";
  return result;
}

template <std::size_t N>
void read_all(const std::pair<std::string_view, Reader> (&readers)[N], const MachineRecord& record,
              MachineFacts& facts) {
  for (const auto& [name, read] : readers) {
    if (const auto at = record.find(name); at != record.end()) read(at->second, facts);
  }
}

}  // namespace

MachineFacts read_machine(const MachineRecord& as_recorded, const VersionTables& tables) {
  MachineRecord record = as_recorded;
  for (auto& [name, text] : record) text = as_bytes(text);
  MachineFacts facts;
  read_all(kReaders, record, facts);
  facts.set("torch.cuda_major", version_head(version_prefix(facts.value("torch.cuda")), 1));
  read_all(kLateReaders, record, facts);
  if (const auto at = record.find("collect_env.txt"); at != record.end() && !record.contains("wheels.txt"))
    read_wheels(wheels_in_collect_env(at->second), facts);
  for (const std::string_view name : {"nvidia-smi-q.txt", "nvidia-smi.txt", "nvidia-smi-list.txt"}) {
    const auto at = record.find(name);
    if (at == record.end() || facts.find("smi.failure")) continue;
    const SmiFailure failure = smi_failure(at->second);
    if (failure.kind.empty()) continue;
    if (failure.kind == "not_found") {
      facts.set("smi.missing", "yes");
    } else if (failure.kind == "sensors") {
      facts.set("smi.sensors", failure.message);
    } else if (failure.kind == "unreadable") {
      if (facts.gpus.empty()) facts.set("smi.unreadable", failure.message);
    } else {
      facts.set("smi.failure", failure.kind);
      facts.set("smi.message", failure.message);
    }
  }
  if (!facts.find("smi.cut")) facts.set("smi.cut_forms", cut_smi_forms(record));
  derive_facts(tables, facts);
  return facts;
}

}  // namespace dsafuzz
