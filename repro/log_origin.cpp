// Rules in the order of their weight; each era of compute-sanitizer is known by lines that no earlier one prints.
#include "repro/log_origin.h"

#include <algorithm>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

template <typename Test>
bool any_line(const LogText& log, const Test& test) {
  return std::ranges::any_of(log.lines, [&](const std::string& line) { return test(std::string_view(line)); });
}
bool has_text(const LogText& log, std::string_view text) {
  return any_line(log, [&](std::string_view line) { return contains(line, text); });
}

std::string assert_origin(const AssertRecord& record) {
  switch (record.form) {
    case AssertForm::xpu: return "triton_xpu";
    case AssertForm::triton_rocm: return "triton_rocm";
    case AssertForm::paddle: return "paddle";
    case AssertForm::dsa: return "dsa";
    case AssertForm::cuda:
    case AssertForm::rocm: break;
  }
  const std::string_view file = record.file;
  if (contains(file, "THCUNN/")) return "thcunn";
  if (contains(file, "/THC/")) return "thc";
  if (file.starts_with("aten/")) {
    const bool hip = contains(file, "/hip/") || file.ends_with(".hip") || record.form == AssertForm::rocm;
    return hip ? "aten_hip" : "aten";
  }
  if (file.starts_with("c10/")) return "c10";
  if (file.ends_with(".py") || file == "unknown") return "triton";
  return record.form == AssertForm::rocm ? "hip" : "extension";
}

std::string error_origin(const CudaError& error) {
  if (contains(error.verbatim, "[CUDA]") && error.from_tool) return "CUDA_LOG_FILE";
  if (error.name.starts_with("hip")) return "hip";
  if (contains(error.verbatim, "Triton Error")) return "triton";
  if (contains(error.exception, "cupy") || contains(error.exception, "CUDARuntimeError")) return "cupy";
  if (contains(error.exception, "CudaAPIError") || contains(error.verbatim, " results in CUDA_ERROR_")) return "numba";
  if (contains(error.verbatim, "Xla") || contains(error.verbatim, "Could not synchronize CUDA stream")) return "xla";
  return "pytorch";
}

// What a location line (`at ..`) shows of the tool's age.
struct Locations {
  bool offset_first = false, offset_last = false, source_last = false, two_line_frames = false, one_line_frames = false,
       windows = false;
};

Locations locations_of(const LogText& log) {
  Locations seen;
  for (const std::string& line : log.lines) {
    const bool host_frame = contains(line, "Host Frame:");
    if (contains(line, "    at 0x") && contains(line, " in ")) seen.offset_first = true;
    const std::size_t at = line.find("at ");
    if (at != std::string::npos && !host_frame && line.find("+0x", at) != std::string::npos) {
      seen.offset_last = true;
      if (line.find(" in ", line.find("+0x", at)) != std::string::npos) seen.source_last = true;
    }
    if (contains(line, "                in ") && !host_frame) seen.two_line_frames = true;
    if (host_frame && contains(line, "         Host Frame: ") && contains(line, "] in ")) seen.one_line_frames = true;
    if (host_frame && (contains(line, ".dll") || contains(line, ".exe"))) seen.windows = true;
  }
  return seen;
}

// cuda-memcheck's host frames begin with their module: `Host Frame:/lib/libcuda.so.1 (cuLaunchKernel + 0x91e) [0x..]`.
bool is_memcheck_frame(std::string_view line) {
  if (!take_until(line, "Host Frame:") || !(line.starts_with('/') || line.starts_with("./"))) return false;
  const std::size_t address = line.find(" [0x");  // before it the module alone, or a blank and the symbol
  if (address == std::string_view::npos) return false;
  const std::size_t colon = line.find(':');
  return colon > address || colon > line.find(' ');
}

std::string sanitizer_origin(const LogText& log, const SanitizerReading& sanitizer) {
  if (has_text(log, "<ComputeSanitizerOutput>")) {
    return has_text(log, "<threadIdx>") ? "compute-sanitizer xml 2026" : "compute-sanitizer xml";
  }
  const bool old_tool =
      sanitizer.tool == "cuda-memcheck" || has_text(log, "CUDA-MEMCHECK") || any_line(log, is_memcheck_frame);
  if (old_tool) return "cuda-memcheck";
  if (sanitizer.custom_prefix) return "compute-sanitizer --prefix";
  const Locations seen = locations_of(log);
  if (seen.windows) return "compute-sanitizer windows";
  if (has_text(log, "CUDA API Error: ")) return "compute-sanitizer>=2026.1";
  if (has_text(log, " is potentially ") || has_text(log, "Free-before-alloc ") || has_text(log, "Deadlock detected")) {
    return "compute-sanitizer>=2025.4";
  }
  if (seen.one_line_frames) return "compute-sanitizer>=2025.1";
  if (seen.offset_first) return "compute-sanitizer 2020-2023.2";
  if (seen.offset_last && seen.two_line_frames) return "compute-sanitizer 2023.3-2024.4";
  if (seen.source_last) return "compute-sanitizer>=2023.3";
  return "compute-sanitizer";
}

std::string gdb_origin(const LogText& log) {
  if (has_text(log, "] coredump: ")) return "driver coredump";
  if (has_text(log, "Opening GPU coredump: ")) return "cuda-gdb cudacore";
  const bool old =
      any_line(log, [](std::string_view line) { return line.starts_with("Program received signal CUDA_"); });
  return old ? "cuda-gdb 7.x" : "cuda-gdb";
}

}  // namespace

std::string origin_of(const LogText& log, const LogReading& reading) {
  switch (reading.kind) {
    case LogKind::device_assert:
      if (reading.asserts.records.empty()) return sanitizer_origin(log, reading.sanitizer);
      return assert_origin(reading.asserts.records[0]);
    case LogKind::cuda_error:
    case LogKind::illegal_memory_access:
    case LogKind::misaligned_address:
    case LogKind::launch_failure:
    case LogKind::no_kernel_image:
    case LogKind::oom:
      if (reading.error && reading.system && reading.system->kind == SystemFault::Kind::memory_access_fault)
        return "hip";
      if (reading.error) return error_origin(*reading.error);
      return reading.system && contains(reading.system->verbatim, "CUDA") ? "pytorch" : "hip";
    case LogKind::driver_missing:
    case LogKind::driver_too_old: return "pytorch";
    case LogKind::process_killed:
      if (contains(reading.system->verbatim, "received by PID")) return "torchrun";
      return contains(reading.system->verbatim, "Fatal Python error") ? "faulthandler" : "operating system";
    case LogKind::host_error:
      return reading.system && contains(reading.system->verbatim, ", file ") ? "msvc assert" : "glibc assert";
    case LogKind::host_sanitizer: return "address sanitizer";
    case LogKind::sanitizer_memcheck:
    case LogKind::sanitizer_leak:
    case LogKind::sanitizer_racecheck:
    case LogKind::sanitizer_initcheck:
    case LogKind::sanitizer_synccheck:
    case LogKind::sanitizer_api_error:
    case LogKind::sanitizer_tool_error:
    case LogKind::sanitizer_clean: return sanitizer_origin(log, reading.sanitizer);
    case LogKind::gdb_exception:
    case LogKind::gpu_coredump: return gdb_origin(log);
    case LogKind::xid: return "kernel log";
    case LogKind::environment: return reading.environment.source;
    case LogKind::environment_failure:
      if (reading.primary_fault == "torch_without_cuda" || reading.primary_fault.starts_with("toolkit_"))
        return "pytorch";
      return reading.primary_fault == "smi_bad_field" ? "nvidia-smi csv" : "nvidia-smi";
    case LogKind::none: return reading.gdb.session ? "cuda-gdb" : "";
  }
  return {};
}

}  // namespace dsafuzz
