// A log of any origin, read once: which fault it shows first, and every record that proves or surrounds it. Pure and
// linear in the log's size; what is kept is bounded, however long the log.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repro/log_echoes.h"
#include "repro/parse_assert.h"
#include "repro/parse_cuda_error.h"
#include "repro/parse_environment.h"
#include "repro/parse_frames.h"
#include "repro/parse_gdb.h"
#include "repro/parse_host_sanitizer.h"
#include "repro/parse_sanitizer.h"
#include "repro/parse_system.h"

namespace dsafuzz {

enum class LogKind : std::uint8_t {
  none,
  device_assert,
  cuda_error,  // an error text without a record of its cause
  illegal_memory_access,
  misaligned_address,
  launch_failure,
  no_kernel_image,
  oom,
  driver_missing,
  driver_too_old,
  process_killed,
  host_error,
  host_sanitizer,
  sanitizer_memcheck,
  sanitizer_leak,
  sanitizer_racecheck,
  sanitizer_initcheck,
  sanitizer_synccheck,
  sanitizer_api_error,
  sanitizer_tool_error,
  sanitizer_clean,
  gdb_exception,
  gpu_coredump,
  xid,
  environment,
  environment_failure,
};
std::string_view to_text(LogKind);

struct LogReading {
  LogKind kind = LogKind::none;
  std::string origin;         // whose line or tool it is, see log_origin.h; empty if there is none
  std::string primary_fault;  // one word for the cause; empty if there is none

  // Of the primary fault; empty where it has none.
  std::optional<std::string> kernel;  // as printed
  std::string file;
  std::optional<std::int64_t> line;  // 0 where an assert says so
  std::optional<std::string> condition;
  std::optional<Triple> block, thread;
  std::int64_t count = 0;  // failing threads, or the sanitizer's own total, or 1 for another fault
  std::string api_call;    // the call that noticed
  std::optional<Frame> earliest_user, nearest_user;
  std::vector<std::string> evidence;  // lines of the primary fault and of the error, at most kEvidenceLimit

  AssertReading asserts;  // the driver's lines; else the DSA report's
  std::optional<CudaError> error;
  FrameReading frames;
  SanitizerReading sanitizer;
  std::optional<HostSanitizerReport> host_sanitizer;
  GdbReading gdb;
  std::optional<SystemFault> system;
  EnvironmentReading environment;

  std::vector<LogEcho> echoes;
  bool truncated = false;         // see log_extent.h
  std::optional<bool> late_trace;  // the Python frames may show a later call than the faulty one
  std::int64_t left_out = 0;       // lines not looked at, see log_text.h
};
inline constexpr std::size_t kEvidenceLimit = 20;

LogReading parse_log(const LogText& log);
LogReading parse_log(std::string_view raw);

}  // namespace dsafuzz
