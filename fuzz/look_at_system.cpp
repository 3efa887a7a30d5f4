#include "fuzz/look_at_system.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <vector>

#include "repro/scan.h"
#include "repro/tsv_table.h"

extern char** environ;

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 12> kPrefixes{"CUDA_",   "NVIDIA_",      "PYTORCH_", "TORCH_",
                                                     "NCCL_",   "CUBLAS_",      "CUDNN_",   "NVCC_",
                                                     "TRITON_", "ASAN_OPTIONS", "LD_",      "CMAKE_CUDA_"};
constexpr std::array<std::string_view, 6> kNames{"CUDAHOSTCXX", "CUDAFLAGS", "CFLAGS",
                                                 "CXXFLAGS",    "CXX",       "LSAN_OPTIONS"};

bool is_wanted(std::string_view name) {
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::ranges::find(kNames, name) != kNames.end();
}

std::string error_name(int error) {
  switch (error) {
    case EPERM: return "EPERM";
    case EACCES: return "EACCES";
    case ENOENT: return "missing";
    case ENXIO: return "ENXIO";
    case ENODEV: return "ENODEV";
    default: return "error " + std::to_string(error);
  }
}

// Opening a device of the driver does nothing to it.
std::string devices() {
  std::string text;
  for (const fs::path& path : sorted_entries("/dev")) {
    if (!path.filename().string().starts_with("nvidia") || fs::is_directory(path)) continue;
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    text += path.string() + " " + (fd >= 0 ? "ok" : error_name(errno)) + "\n";
    if (fd >= 0) close(fd);
  }
  return text;
}

// Display and 3D controllers (class 03xx) of NVIDIA; the audio devices on the same cards are none.
std::string pci_gpus() {
  std::string text;
  for (const fs::path& path : sorted_entries("/sys/bus/pci/devices")) {
    const std::string kind = head_of(path / "class", 64);
    if (!head_of(path / "vendor", 64).starts_with("0x10de") || !kind.starts_with("0x03")) continue;
    text += path.filename().string() + " " + head_of(path / "device", 64);
  }
  return text;
}

std::string processes(const std::string& listed_by_smi) {
  std::set<std::string> listed;
  for (const std::string& line : split(listed_by_smi, '\n')) {
    std::string_view rest = line;
    if (take_until(rest, "Process ID") && take_until(rest, ": ")) listed.emplace(trimmed(rest));
  }
  std::string text;
  for (const fs::path& path : sorted_entries("/proc")) {
    const std::string number = path.filename().string();
    if (!is_digit(number.front())) continue;
    const std::string name = head_of(path / "comm", 64);
    const bool daemon = name.starts_with("nvidia-") || name.starts_with("nv-");
    if (daemon || listed.contains(number)) text += number + " " + (daemon ? name : std::string("program\n"));
  }
  return text;
}

// The smallest limit of memory that the control groups of either version set; empty if there is none.
std::string memory_limit_mib() {
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::string text = head_of(path, 64);
    std::string_view digits = text;
    const auto bytes = take_number(digits);
    // Version 1 writes a number near 2^63 for no limit.
    if (bytes && *bytes < (std::int64_t{1} << 60)) return std::to_string(*bytes >> 20);
  }
  return {};
}

std::string limits() {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += std::string(name) + " " + value + "\n";
  };
  struct statvfs shm{};
  if (statvfs("/dev/shm", &shm) == 0) line("limit.shm_mib", std::to_string((shm.f_blocks * shm.f_frsize) >> 20));
  struct rlimit memlock{};
  if (getrlimit(RLIMIT_MEMLOCK, &memlock) == 0) {
    const bool unlimited = memlock.rlim_cur == RLIM_INFINITY;
    line("limit.memlock_kib", unlimited ? "unlimited" : std::to_string(memlock.rlim_cur >> 10));
  }
  line("limit.memory_mib", memory_limit_mib());
  struct rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY)
    line("limit.address_mib", std::to_string(addresses.rlim_cur >> 20));
  std::error_code error;
  const bool container = fs::exists("/.dockerenv", error) || fs::exists("/run/.containerenv", error) ||
                         contains(head_of("/proc/1/cgroup"), "docker") ||
                         contains(head_of("/proc/1/cgroup"), "kubepods");
  line("os.container", container ? "yes" : "no");
  // CUDA writes GPU core dumps to the working folder if CUDA_COREDUMP_FILE names no other.
  const char* file = std::getenv("CUDA_COREDUMP_FILE");
  fs::path folder = file ? fs::path(file).parent_path() : fs::current_path(error);
  if (folder.empty()) folder = fs::current_path(error);
  line("coredump.folder", folder.string());
  line("coredump.state", !fs::is_directory(folder, error)           ? "no such folder"
                         : access(folder.c_str(), W_OK | X_OK) != 0 ? "not writable"
                                                                    : "ok");
  return text;
}

// The number in MiB on a line of /proc/meminfo, which counts in KiB.
std::string meminfo_mib(std::string_view name) {
  const std::string text = head_of("/proc/meminfo");
  std::string_view rest = text;
  if (!take_until(rest, name)) return {};
  skip_blanks(rest);
  const auto kib = take_number(rest);
  return kib ? std::to_string(*kib >> 10) : std::string();
}

// Whether this process may trace others whatever Yama says: CAP_SYS_PTRACE among its capabilities.
std::string may_trace() {
  constexpr unsigned kSysPtrace = 19;
  const std::string text = head_of("/proc/self/status");
  std::string_view rest = text;
  if (!take_until(rest, "CapEff:")) return {};
  std::uint64_t capabilities = 0;
  rest = trimmed(rest.substr(0, rest.find('\n')));
  std::from_chars(rest.data(), rest.data() + rest.size(), capabilities, 16);
  return (capabilities >> kSysPtrace & 1) != 0 ? "yes" : "no";
}

// What the kernel is told about promised memory, core dumps and debuggers.
std::string kernel_settings() {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    const std::string_view first = trimmed(first_line(value));
    if (!first.empty()) text += std::string(name) + " " + std::string(first) + "\n";
  };
  line("kernel.overcommit", head_of("/proc/sys/vm/overcommit_memory", 64));
  line("kernel.commit_limit_mib", meminfo_mib("CommitLimit:"));
  line("kernel.committed_mib", meminfo_mib("Committed_AS:"));
  line("kernel.core_pattern", head_of("/proc/sys/kernel/core_pattern", 256));
  line("kernel.ptrace_scope", head_of("/proc/sys/kernel/yama/ptrace_scope", 64));
  line("os.may_trace", may_trace());
  return text;
}

std::string kernel() {
  std::string iommu;
  for (const std::string& word : split(head_of("/proc/cmdline"), ' ')) {
    if (contains(word, "iommu")) iommu += " " + std::string(word.substr(0, word.find('\n')));
  }
  const std::string version = head_of("/proc/version");
  return version + (version.ends_with('\n') ? "" : "\n") + "command line:" + iommu + "\n";
}

}  // namespace

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.push_back(at->path());
  std::ranges::sort(entries);
  return entries;
}

std::string head_of(const std::string& path, std::size_t limit) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  std::string text;
  char buffer[4096];
  for (ssize_t n; text.size() < limit && (n = read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  close(fd);
  return text;
}

std::string lines_with(const std::string& text, std::initializer_list<std::string_view> words) {
  std::string kept;
  for (const std::string& line : split(text, '\n')) {
    if (std::ranges::any_of(words, [&](std::string_view word) { return contains(line, word); })) kept += line + "\n";
  }
  return kept;
}

std::string seen_environment() {
  std::vector<std::string> lines;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    // A variable of several lines would look like several variables.
    if (is_wanted(text.substr(0, text.find('='))) && !contains(text, "\n")) lines.emplace_back(text);
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

void look_at_system(const std::string& listed_by_smi, MachineRecord& record) {
  record["environment.txt"] = seen_environment();
  record["kernel.txt"] = kernel();
  record["modules.txt"] = lines_with(head_of("/proc/modules"), {"nvidia", "nouveau"});
  record["devices.txt"] = devices();
  std::error_code error;
  if (fs::exists("/sys/bus/pci/devices", error)) record["pci.txt"] = pci_gpus();
  record["processes.txt"] = processes(listed_by_smi);
  record["limits.txt"] = limits() + kernel_settings();
  if (std::string module = head_of("/proc/driver/nvidia/version"); !module.empty())
    record["driver-module.txt"] = std::move(module);
}

}  // namespace dsafuzz
