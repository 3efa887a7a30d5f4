#include "repro/read_system.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include "repro/allocator_setting.h"
#include "repro/log_text.h"
#include "repro/scan.h"
#include "repro/tsv_table.h"
#include "repro/version_number.h"

namespace dsafuzz {
namespace {

// Variables that help to find a bug and cost time, memory or sameness where they stay. CUDA_LAUNCH_BLOCKING and
// PYTORCH_NO_CUDA_MEMORY_CACHING have rules of their own.
constexpr std::array<std::string_view, 12> kDebugVariables{"CUDA_DISABLE_PTX_JIT",
                                                           "CUDA_FORCE_PTX_JIT",
                                                           "CUDA_CACHE_DISABLE",
                                                           "CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
                                                           "CUDA_DEVICE_WAITS_ON_EXCEPTION",
                                                           "CUDA_COREDUMP_SHOW_PROGRESS",
                                                           "NCCL_DEBUG",
                                                           "NCCL_P2P_DISABLE",
                                                           "NCCL_SHM_DISABLE",
                                                           "TORCH_SHOW_CPP_STACKTRACES",
                                                           "CUBLAS_WORKSPACE_CONFIG",
                                                           "PYTORCH_CUDA_DSA_STACKTRACING"};
constexpr std::array<std::string_view, 6> kFlagVariables{
    "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CUDAFLAGS", "TORCH_NVCC_FLAGS", "CFLAGS", "CXXFLAGS"};
// Xid messages: a GPU that is lost or broken, and faults of the program that ran on it. The numbers are those of the
// rows xid_fatal, xid_application and ecc_dbe in known_conflicts.tsv.
constexpr std::array<std::int64_t, 8> kFatalXids{46, 48, 64, 74, 79, 95, 119, 120};
constexpr std::array<std::int64_t, 4> kApplicationXids{13, 31, 43, 45};

// A list of names that is longer than this is no tool's, and is not read on.
constexpr std::size_t kLongestList = std::size_t{64} << 10;

std::string in_one_line(const std::set<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

}  // namespace

void read_environment(std::string_view text, MachineFacts& facts) {
  for (const std::string& line : split(text, '\n')) {
    std::string_view rest = line;
    while (rest.ends_with('\r')) rest.remove_suffix(1);
    const auto name = take_until(rest, "=");
    if (name && is_fact_name("env." + std::string(*name))) facts.values["env." + std::string(*name)] = rest;
  }
  const auto variable = [&](std::string_view name) { return facts.value("env." + std::string(name)); };
  std::string left;
  for (const std::string_view name : kDebugVariables) {
    const std::string_view value = variable(name);
    if (value.empty() || value == "0") continue;
    left += (left.empty() ? "" : ", ") + std::string(name) + "=" + std::string(value);
  }
  facts.set("env.debug_left", left);
  for (const std::string_view name : kFlagVariables) {
    if (contains(variable(name), "-DNDEBUG") || contains(variable(name), "-D NDEBUG")) facts.set("flags.ndebug", name);
  }
  const std::string_view conf = variable("PYTORCH_ALLOC_CONF");
  facts.set("alloc.conf", conf.empty() ? variable("PYTORCH_CUDA_ALLOC_CONF") : conf);
  facts.set("alloc.bad", bad_allocator_option(facts.value("alloc.conf")));
}

void read_driver_module(std::string_view text, MachineFacts& facts) {
  std::string_view rest = text;
  if (!take_until(rest, "NVRM version: ")) return;
  const std::string_view line = rest.substr(0, rest.find('\n'));
  facts.set("driver.kind", contains(line, "Open Kernel Module") ? "open" : "proprietary");
  for (const std::string& word : split(line, ' ')) {
    if (!word.empty() && is_digit(word.front()) && contains(word, ".")) {
      facts.set("driver.module", version_prefix(word));
      facts.set("driver.version", version_prefix(word));
      return;
    }
  }
}

void read_kernel(std::string_view text, MachineFacts& facts) {
  std::string_view rest = text;
  if (take_until(rest, "Linux version ")) facts.set("os.kernel", version_prefix(rest));
  if (contains(text, "microsoft") || contains(text, "Microsoft")) {
    facts.set("os.wsl", "yes");
    facts.set("os.windows", "yes");
  }
  if (contains(text, "-tegra")) facts.set("os.tegra", "yes");
  for (const std::string& line : read_log_text(text).lines) {
    rest = line;
    if (!take(rest, "command line:")) continue;
    const bool on = contains(rest, "intel_iommu=on") || contains(rest, "amd_iommu=on") || contains(rest, "iommu=force");
    if (on && !contains(rest, "iommu=pt")) facts.set("os.iommu", trimmed(rest));
  }
}

void read_modules(std::string_view text, MachineFacts& facts) {
  for (const std::string& line : read_log_text(text).lines) {
    if (line.starts_with("nouveau ")) facts.set("driver.nouveau", "yes");
  }
}

void read_devices(std::string_view text, MachineFacts& facts) {
  facts.set("dev.control", "missing");
  facts.set("dev.uvm", "missing");
  std::size_t denied = 0;
  for (const std::string& line : read_log_text(text).lines) {
    std::string_view rest = line;
    const auto path = take_until(rest, " ");
    if (!path) continue;
    if (*path == "/dev/nvidiactl") facts.set("dev.control", trimmed(rest));
    if (*path == "/dev/nvidia-uvm") facts.set("dev.uvm", trimmed(rest));
    std::string_view number = *path;
    const bool gpu = take(number, "/dev/nvidia") && take_number(number) && number.empty();
    if (gpu && (trimmed(rest) == "EPERM" || trimmed(rest) == "EACCES")) ++denied;
  }
  if (denied > 0) facts.set("dev.denied", std::to_string(denied));
}

void read_pci(std::string_view text, MachineFacts& facts) {
  std::size_t count = 0;
  for (const std::string& line : read_log_text(text).lines) count += trimmed(line).empty() ? 0 : 1;
  facts.set("pci.gpus", std::to_string(count));
}

void read_processes(std::string_view text, MachineFacts& facts) {
  std::string living = " ";
  for (const std::string& line : read_log_text(text).lines) {
    std::string_view rest = trimmed(line);
    const auto number = take_number(rest);
    if (!number || living.size() > kLongestList) continue;
    living += std::to_string(*number) + " ";
    const std::string_view name = trimmed(rest);
    // The kernel cuts names to 15 characters: nvidia-cuda-mps is both the control daemon and the server.
    if (name.starts_with("nvidia-cuda-mps")) facts.set("process.mps", "yes");
    if (name.starts_with("nvidia-persiste")) facts.set("process.persistenced", "yes");
    if (name.starts_with("nv-fabricmanag")) facts.set("process.fabricmanager", "yes");
  }
  for (const std::string_view daemon : {"process.mps", "process.persistenced", "process.fabricmanager"}) {
    if (!facts.find(daemon)) facts.set(daemon, "no");
  }
  facts.set("process.living", living);
}

void read_limits(std::string_view text, MachineFacts& facts) {
  constexpr std::array<std::string_view, 12> kNames{
      "limit.shm_mib",     "limit.memlock_kib",       "limit.memory_mib",    "limit.address_mib",
      "coredump.folder",   "coredump.state",          "os.container",        "compiler.cc",
      "kernel.overcommit", "kernel.commit_limit_mib", "kernel.ptrace_scope", "os.may_trace"};
  std::optional<std::int64_t> committed;
  for (const std::string& line : read_log_text(text).lines) {
    std::string_view rest = line;
    const auto name = take_until(rest, " ");
    for (const std::string_view known : kNames) {
      // What is unlimited needs no judgement.
      if (name && *name == known && trimmed(rest) != "unlimited") facts.set(known, trimmed(rest));
    }
    if (name == "kernel.committed_mib") committed = take_number(rest);
    // "|/usr/share/apport/apport -p%p": a pipe to that program.
    if (name == "kernel.core_pattern" && take(rest, "|")) {
      rest = trimmed(rest);
      facts.set("kernel.core_pipe", rest.substr(0, rest.find(' ')));
    }
  }
  std::string_view digits = facts.value("kernel.commit_limit_mib");
  const auto limit = take_number(digits);
  if (limit && committed)
    facts.set("kernel.commit_left_mib", std::to_string(std::max<std::int64_t>(0, *limit - *committed)));
}

void read_kernel_log(std::string_view text, MachineFacts& facts) {
  std::set<std::int64_t> fatal, application;
  for (const std::string& line : read_log_text(text).lines) {
    if (contains(line, "request_free_mem_region") && contains(line, "err -34")) facts.set("log.hmm", "yes");
    if (contains(line, "NVRM: API mismatch")) facts.set("log.mismatch", "yes");
    if (contains(line, "requires use of the NVIDIA open kernel modules")) facts.set("log.open_needed", "yes");
    std::string_view rest = line;
    if (contains(line, "Legacy drivers") && take_until(rest, "through the NVIDIA "))
      facts.set("log.legacy", take_until(rest, " ").value_or(""));
    rest = line;
    if (take_until(rest, "GPU recovery action changed from ") && take_until(rest, " to ") && take_until(rest, "("))
      facts.set("log.recovery", take_until(rest, ")").value_or(""));
    rest = line;
    if (!take_until(rest, "NVRM: Xid (PCI:") || !take_until(rest, "): ")) continue;
    const std::int64_t xid = take_number(rest).value_or(0);
    for (const std::int64_t number : kFatalXids) {
      if (xid == number) fatal.insert(xid);
    }
    for (const std::int64_t number : kApplicationXids) {
      if (xid == number) application.insert(xid);
    }
  }
  if (facts.value("log.recovery") == "None") facts.values.erase("log.recovery");
  facts.set("xid.fatal", in_one_line(fatal));
  facts.set("xid.application", in_one_line(application));
}

void read_device_code(std::string_view text, MachineFacts& facts) {
  for (const std::string& line : read_log_text(text).lines) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) continue;
    const std::string found = line.substr(blank + 1);
    const std::string_view fact = found == "asserts"      ? "asserts.present"
                                  : found == "no asserts" ? "asserts.missing"
                                                          : "asserts.unknown";
    const std::string others(facts.value(fact));
    if (others.size() > kLongestList) continue;
    facts.set(fact, others + (others.empty() ? "" : ", ") + line.substr(0, blank) +
                        (fact == "asserts.unknown" ? " (" + found + ")" : ""));
  }
}

}  // namespace dsafuzz
