// A table of texts. Where a text alone would also match prose or names, a function decides.
#include "repro/parse_system.h"

#include <algorithm>
#include <array>

#include "repro/parse_assert.h"
#include "repro/parse_shell_death.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

using Kind = SystemFault::Kind;

struct Text {
  std::string_view text;
  Kind kind;
  std::string_view fault;
};
constexpr std::array kTexts{
    Text{"CUDA out of memory. ", Kind::oom, "oom"},
    Text{"HIP out of memory. ", Kind::oom, "oom"},
    Text{"Memory access fault by GPU node-", Kind::memory_access_fault, "illegal_memory_access"},
    Text{"Found no NVIDIA driver on your system", Kind::driver_missing, "driver_missing"},
    Text{"No CUDA GPUs are available", Kind::driver_missing, "driver_missing"},
    Text{"The NVIDIA driver on your system is too old", Kind::driver_too_old, "driver_too_old"},
    Text{"(SIGABRT) received by PID", Kind::process_killed, "sigabrt"},
    Text{"(SIGSEGV) received by PID", Kind::process_killed, "sigsegv"},
    Text{"(SIGKILL) received by PID", Kind::process_killed, "sigkill"},
    Text{"Fatal Python error: Segmentation fault", Kind::process_killed, "sigsegv"},
    Text{"is killed by signal: Bus error", Kind::process_killed, "shared_memory"},
    Text{"is killed by signal: Segmentation fault", Kind::process_killed, "sigsegv"},
    Text{"is killed by signal: Killed", Kind::process_killed, "sigkill"},
    Text{"Out of memory: Killed process ", Kind::process_killed, "sigkill"},
    Text{"oom_kill event", Kind::process_killed, "sigkill"},
    Text{"oom-kill event", Kind::process_killed, "sigkill"},
    Text{"Usage: compute-sanitizer", Kind::tool_usage, "sanitizer_usage"},
    Text{"is not a valid field to query.", Kind::environment_failure, "smi_bad_field"},
    Text{"NVIDIA-SMI has failed because it couldn't communicate", Kind::environment_failure, "smi_no_driver"},
    Text{"Failed to initialize NVML: Driver/library version mismatch", Kind::environment_failure, "nvml_mismatch"},
    Text{"Failed to initialize NVML: Insufficient Permissions", Kind::environment_failure, "nvml_permissions"},
    Text{"Failed to initialize NVML: GPU access blocked", Kind::environment_failure, "nvml_permissions"},
    Text{"Failed to initialize NVML: Unknown Error", Kind::environment_failure, "nvml_unknown"},
    Text{"Unable to determine the device handle for GPU", Kind::environment_failure, "gpu_lost"},
    Text{"No devices were found", Kind::environment_failure, "smi_no_devices"},
    Text{"NVRM: API mismatch: ", Kind::environment_failure, "nvml_mismatch"},
    Text{"AssertionError: Torch not compiled with CUDA enabled", Kind::environment_failure, "torch_without_cuda"},
    Text{"mismatches the version that was used to compile", Kind::environment_failure, "toolkit_mismatch"},
    Text{"CUDA_HOME environment variable is not set", Kind::environment_failure, "toolkit_missing"}};

// What a shell says of a command that is not there; shells are translated, unlike NVIDIA's tools.
bool is_smi_not_found(std::string_view line) {
  constexpr std::size_t kLongest = 240;
  if (line.size() > kLongest || !contains(line, "nvidia-smi")) return false;
  constexpr std::array<std::string_view, 15> kMissing{
      "not found",        "is not recognized",  "No such file or directory",
      "nicht gefunden",   "falsch geschrieben", "introuvable",
      "pas reconnu",      "no se reconoce",     "no encontrado",
      "non riconosciuto", "не найден",          "не является",
      "未找到",           "不是内部或外部命令", "見つかりません"};
  return std::ranges::any_of(kMissing, [&](std::string_view text) { return contains(line, text); });
}

// glibc: `PROG: FILE:LINE: FUNC: Assertion `COND' failed.`; MSVC: `Assertion failed: COND, file F, line N`. Both words
// occur in the device's form too, which has a block.
bool is_host_assert(std::string_view line) {
  if (contains(line, " block: [")) return false;
  std::string_view rest = line;
  if (take_until(rest, ": Assertion `") && contains(rest, "' failed.")) return true;
  rest = line;
  return take(rest, "Assertion failed: ") && contains(rest, ", file ") && contains(rest, ", line ");
}

// NVRM: Xid (PCI:0000:41:00): 13, pid=.. The MMU's address is written "0x7f3c_de000000".
std::optional<Xid> xid_of(std::string_view line) {
  if (!take_until(line, "NVRM: Xid (PCI:")) return std::nullopt;
  const auto pci = take_until(line, "): ");
  const auto number = pci ? take_number(line) : std::nullopt;
  if (!number) return std::nullopt;
  Xid xid{*number, std::string(pci->substr(0, kVerbatimLimit)), {}};
  if (take_until(line, "faulted @ ")) {
    for (char c : line.substr(0, line.find_first_of(" .,"))) {
      if (c != '_') xid.address += c;
    }
  }
  return xid;
}

// `line` is of Xid number `xid`.
std::string xid_fault(std::int64_t xid, std::string_view line) {
  switch (xid) {
    case 13:  // exception of a multiprocessor: mostly an address it could not use
      if (contains(line, "Illegal Instruction")) return "illegal_instruction";
      if (contains(line, "Misaligned Address")) return "misaligned_address";
      return "illegal_memory_access";
    case 31: return "illegal_memory_access";  // MMU fault
    case 79: return "gpu_lost";
    case 48:
    case 94:
    case 95: return "ecc_error";
    default: return "xid_" + std::to_string(xid);
  }
}

SystemFault shell_fault(ShellDeath death) {
  SystemFault fault;
  fault.kind = death == ShellDeath::abort ? Kind::shell_abort : Kind::process_killed;
  fault.fault = death == ShellDeath::abort ? "sigabrt" : death == ShellDeath::segfault ? "sigsegv" : "sigkill";
  return fault;
}

// The first of the last three lines that say something: a shell's word stands there, or a prompt after it.
std::size_t first_of_end(const std::vector<std::string>& lines) {
  constexpr int kWithPrompt = 3;
  std::size_t first = lines.size();
  for (int left = kWithPrompt; first > 0 && left > 0;) {
    if (!trimmed(lines[--first]).empty()) --left;
  }
  return first;
}

std::optional<SystemFault> fault_in(std::string_view line, bool at_end) {
  SystemFault fault;
  if (auto xid = xid_of(line)) {
    fault.kind = Kind::xid;
    fault.fault = xid_fault(xid->number, line);
    fault.xids.push_back(*std::move(xid));
    return fault;
  }
  if (is_host_assert(line)) {
    fault.kind = Kind::host_error;
    fault.fault = "host_error";
    fault.count = 0;
    return fault;
  }
  if (is_smi_not_found(line)) {
    fault.kind = Kind::environment_failure;
    fault.fault = "smi_not_found";
    fault.count = 0;
    return fault;
  }
  if (const auto death = shell_death(line, at_end)) return shell_fault(*death);
  for (const Text& text : kTexts) {
    if (!contains(line, text.text)) continue;
    fault.kind = text.kind;
    fault.fault = std::string(text.fault);
    if (fault.kind >= Kind::tool_usage) fault.count = 0;
    return fault;
  }
  return std::nullopt;
}

}  // namespace

std::optional<SystemFault> parse_system(const LogText& log) {
  std::optional<SystemFault> best;
  const std::size_t end = first_of_end(log.lines);
  for (std::size_t i = 0; i < log.lines.size(); ++i) {
    auto fault = fault_in(log.lines[i], i >= end);
    if (!fault) continue;
    if (best && best->kind == fault->kind && fault->kind == Kind::xid) {
      ++best->count;
      if (best->xids.size() < kXidLimit) best->xids.push_back(fault->xids.front());
    }
    if (best && best->kind <= fault->kind) continue;
    fault->log_line = i;
    fault->verbatim = log.lines[i].substr(0, kVerbatimLimit);
    best = std::move(fault);
  }
  return best;
}

}  // namespace dsafuzz
