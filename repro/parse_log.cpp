// Runs every grammar, then decides which finding is the primary one: of the records that name a cause the earliest,
// since what follows a sticky error is an echo of it; without such a record the error text; then what is left.
#include "repro/parse_log.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "repro/log_extent.h"
#include "repro/log_origin.h"
#include "repro/parse_dsa.h"
#include "repro/parse_sanitizer_xml.h"

namespace dsafuzz {
namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

LogKind kind_of(SanitizerRecord::Kind kind) {
  switch (kind) {
    case SanitizerRecord::Kind::memcheck: return LogKind::sanitizer_memcheck;
    case SanitizerRecord::Kind::device_assert: return LogKind::device_assert;
    case SanitizerRecord::Kind::racecheck: return LogKind::sanitizer_racecheck;
    case SanitizerRecord::Kind::initcheck: return LogKind::sanitizer_initcheck;
    case SanitizerRecord::Kind::synccheck: return LogKind::sanitizer_synccheck;
    case SanitizerRecord::Kind::leak: return LogKind::sanitizer_leak;
    case SanitizerRecord::Kind::api_error: return LogKind::sanitizer_api_error;
    case SanitizerRecord::Kind::tool_error: return LogKind::sanitizer_tool_error;
  }
  std::unreachable();
}

LogKind kind_of(SystemFault::Kind kind) {
  switch (kind) {
    case SystemFault::Kind::oom: return LogKind::oom;
    case SystemFault::Kind::memory_access_fault: return LogKind::illegal_memory_access;
    case SystemFault::Kind::driver_missing: return LogKind::driver_missing;
    case SystemFault::Kind::driver_too_old: return LogKind::driver_too_old;
    case SystemFault::Kind::shell_abort:
    case SystemFault::Kind::process_killed: return LogKind::process_killed;
    case SystemFault::Kind::host_error: return LogKind::host_error;
    case SystemFault::Kind::xid: return LogKind::xid;
    case SystemFault::Kind::tool_usage: return LogKind::sanitizer_tool_error;
    case SystemFault::Kind::environment_failure: return LogKind::environment_failure;
  }
  std::unreachable();
}

LogKind kind_of(const CudaError& error) {
  if (error.name.starts_with("hip")) return LogKind::cuda_error;  // a failed assert of ROCm looks like this too
  const std::string_view fault = fault_word(error);
  for (LogKind kind : {LogKind::illegal_memory_access, LogKind::misaligned_address, LogKind::launch_failure,
                       LogKind::no_kernel_image, LogKind::oom}) {
    if (to_text(kind) == fault) return kind;
  }
  return LogKind::cuda_error;
}

// Records that name a cause in the device, as opposed to the tool's own trouble and failed calls.
bool names_cause(const SanitizerRecord& record) {
  return record.kind != SanitizerRecord::Kind::api_error && record.kind != SanitizerRecord::Kind::tool_error &&
         record.kind != SanitizerRecord::Kind::leak;
}

void add_evidence(LogReading& reading, std::string line) {
  if (line.empty() || reading.evidence.size() >= kEvidenceLimit) return;
  if (std::ranges::find(reading.evidence, line) == reading.evidence.end()) reading.evidence.push_back(std::move(line));
}

std::optional<std::int64_t> known_line(int line) { return line > 0 ? std::optional<std::int64_t>(line) : std::nullopt; }

void use(LogReading& reading, const AssertRecord& record) {
  reading.kind = LogKind::device_assert;
  reading.primary_fault = "device_assert";
  reading.kernel = record.function;
  reading.file = record.file;
  reading.line = record.line;
  reading.condition = record.condition;
  reading.block = record.block;
  reading.thread = record.thread;
  reading.count = reading.asserts.count;
  for (const AssertRecord& each : reading.asserts.records) {
    if (reading.evidence.size() < kEvidenceLimit / 2) add_evidence(reading, each.verbatim);
  }
}

void use(LogReading& reading, const SanitizerRecord& record) {
  reading.kind = kind_of(record.kind);
  reading.primary_fault = record.fault;
  if (!record.kernel.empty()) reading.kernel = record.kernel;
  reading.file = record.file;
  reading.line = known_line(record.line);
  reading.block = record.block;
  reading.thread = record.thread;
  reading.count = reading.sanitizer.count();
  if (reading.api_call.empty()) reading.api_call = record.api_call;
  for (const std::string& line : record.verbatim) add_evidence(reading, line);
}

void use(LogReading& reading, const GdbReading& gdb) {
  reading.kind = gdb.coredump ? LogKind::gpu_coredump : LogKind::gdb_exception;
  reading.primary_fault = gdb.fault;
  if (!gdb.kernel.empty()) reading.kernel = gdb.kernel;
  reading.file = gdb.file;
  reading.line = known_line(gdb.line);
  reading.block = gdb.block;
  reading.thread = gdb.thread;
  reading.count = 1;
  for (const std::string& line : gdb.verbatim) add_evidence(reading, line);
}

void use(LogReading& reading, const HostSanitizerReport& report) {
  reading.kind = LogKind::host_sanitizer;
  reading.primary_fault = report.fault;
  reading.count = 1;
  for (const std::string& line : report.verbatim) add_evidence(reading, line);
}

void use(LogReading& reading, const CudaError& error) {
  reading.kind = kind_of(error);
  reading.primary_fault = std::string(fault_word(error));
  reading.count = reading.kind == LogKind::cuda_error ? 0 : 1;
}

void use(LogReading& reading, const SystemFault& fault) {
  reading.kind = kind_of(fault.kind);
  reading.primary_fault = fault.fault;
  reading.count = fault.count;
  add_evidence(reading, fault.verbatim);
}

void choose(LogReading& reading) {
  const SanitizerReading& sanitizer = reading.sanitizer;
  const auto cause = std::ranges::find_if(sanitizer.records, names_cause);
  const bool system_cause = reading.system && reading.system->kind <= SystemFault::Kind::memory_access_fault;

  const std::size_t at_assert = reading.asserts.records.empty() ? kNowhere : reading.asserts.records[0].log_line;
  const std::size_t at_tool = cause == sanitizer.records.end() ? kNowhere : cause->log_line;
  const std::size_t at_gdb = reading.gdb.exception.empty() ? kNowhere : reading.gdb.log_line;
  const std::size_t at_host = reading.host_sanitizer ? reading.host_sanitizer->log_line : kNowhere;
  const std::size_t first = std::min({at_assert, at_tool, at_gdb, at_host});
  if (first != kNowhere) {
    if (first == at_assert) return use(reading, reading.asserts.records[0]);
    if (first == at_tool) return use(reading, *cause);
    if (first == at_gdb) return use(reading, reading.gdb);
    return use(reading, *reading.host_sanitizer);
  }
  const bool has_error = reading.error && !reading.error->from_tool;
  if (has_error && !(system_cause && reading.system->log_line < reading.error->log_line)) {
    return use(reading, *reading.error);
  }
  if (system_cause) return use(reading, *reading.system);
  if (!sanitizer.records.empty()) {
    // That the target never started says more than that it failed, whatever is printed first.
    const auto never_started = std::ranges::find(sanitizer.records, "target_never_started", &SanitizerRecord::fault);
    use(reading, never_started != sanitizer.records.end() ? *never_started : sanitizer.records[0]);
    for (const SanitizerRecord& record : sanitizer.records) {
      if (reading.api_call.empty()) reading.api_call = record.api_call;
    }
    if (reading.kind == LogKind::sanitizer_api_error && reading.error) {
      reading.primary_fault = std::string(fault_word(*reading.error));
    }
    return;
  }
  if (reading.error) return use(reading, *reading.error);
  if (reading.system) return use(reading, *reading.system);
  if (!reading.environment.source.empty()) {
    reading.kind = LogKind::environment;
  } else if (sanitizer.present && sanitizer.total == 0) {
    reading.kind = LogKind::sanitizer_clean;
  }
}

}  // namespace

std::string_view to_text(LogKind kind) {
  switch (kind) {
    case LogKind::none: return "none";
    case LogKind::device_assert: return "device_assert";
    case LogKind::cuda_error: return "cuda_error";
    case LogKind::illegal_memory_access: return "illegal_memory_access";
    case LogKind::misaligned_address: return "misaligned_address";
    case LogKind::launch_failure: return "launch_failure";
    case LogKind::no_kernel_image: return "no_kernel_image";
    case LogKind::oom: return "oom";
    case LogKind::driver_missing: return "driver_missing";
    case LogKind::driver_too_old: return "driver_too_old";
    case LogKind::process_killed: return "process_killed";
    case LogKind::host_error: return "host_error";
    case LogKind::host_sanitizer: return "host_sanitizer";
    case LogKind::sanitizer_memcheck: return "sanitizer_memcheck";
    case LogKind::sanitizer_leak: return "sanitizer_leak";
    case LogKind::sanitizer_racecheck: return "sanitizer_racecheck";
    case LogKind::sanitizer_initcheck: return "sanitizer_initcheck";
    case LogKind::sanitizer_synccheck: return "sanitizer_synccheck";
    case LogKind::sanitizer_api_error: return "sanitizer_api_error";
    case LogKind::sanitizer_tool_error: return "sanitizer_tool_error";
    case LogKind::sanitizer_clean: return "sanitizer_clean";
    case LogKind::gdb_exception: return "gdb_exception";
    case LogKind::gpu_coredump: return "gpu_coredump";
    case LogKind::xid: return "xid";
    case LogKind::environment: return "environment";
    case LogKind::environment_failure: return "environment_failure";
  }
  std::unreachable();
}

LogReading parse_log(std::string_view raw) { return parse_log(read_log_text(raw)); }

LogReading parse_log(const LogText& log) {
  LogReading reading;
  reading.left_out = log.left_out;
  reading.asserts = parse_asserts(log);
  if (reading.asserts.records.empty()) {
    const std::int64_t spoiled = reading.asserts.spoiled;
    reading.asserts = parse_dsa(log);
    reading.asserts.spoiled = spoiled;
  }
  reading.error = parse_cuda_error(log);
  reading.frames = parse_frames(log);
  reading.sanitizer = parse_sanitizer_xml(log);
  if (!reading.sanitizer.present) reading.sanitizer = parse_sanitizer(log);
  reading.host_sanitizer = parse_host_sanitizer(log);
  reading.gdb = parse_gdb(log);
  reading.system = parse_system(log);
  reading.environment = parse_environment(log);

  reading.earliest_user = reading.frames.earliest_user;
  reading.nearest_user = reading.frames.nearest_user;
  if (!reading.earliest_user) {
    reading.earliest_user = reading.sanitizer.earliest_user;
    reading.nearest_user = reading.sanitizer.nearest_user;
  }
  if (reading.error) reading.api_call = reading.error->api_call;
  choose(reading);
  const bool device_trouble = reading.error || reading.kind != LogKind::none;
  if (reading.api_call.empty() && device_trouble) reading.api_call = reading.frames.api_call;
  if (reading.error) add_evidence(reading, reading.error->verbatim);
  reading.origin = origin_of(log, reading);
  if (reading.kind != LogKind::none) reading.echoes = find_echoes(log);
  reading.truncated = is_truncated(log, reading);
  reading.late_trace = may_be_late(log, reading);
  return reading;
}

}  // namespace dsafuzz
