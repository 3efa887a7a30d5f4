// Reports of compute-sanitizer and its predecessor cuda-memcheck, in text form: blocks of lines behind a prefix
// (nine `=` by default) that may start in the middle of the program's own line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repro/finding.h"
#include "repro/log_text.h"
#include "repro/scan.h"

namespace dsafuzz {

struct SanitizerRecord {
  enum class Kind : std::uint8_t {
    memcheck,
    device_assert,
    racecheck,
    initcheck,
    synccheck,
    leak,
    api_error,
    tool_error
  };
  Kind kind = Kind::memcheck;
  std::string fault;     // one word: "invalid_global_read", "double_free", "hazard_WAW"
  std::string title;     // first line: "Invalid __global__ read of size 8 bytes"
  std::string relation;  // where the address lies: "after the allocation", "in a freed allocation", "at a null pointer"
  std::string kernel;    // as printed; empty if unknown
  std::string file;      // trimmed_path; empty if unknown
  int line = 0;
  std::optional<Triple> block, thread;
  std::string api_call;  // api_error only
  std::size_t log_line = 0;
  std::vector<std::string> verbatim;  // its lines, at most kSanitizerLines
};
inline constexpr std::size_t kSanitizerRecordLimit = 64;
inline constexpr std::size_t kSanitizerLines = 12;

struct SanitizerReading {
  bool present = false;                              // the tool's header, a record or a summary was seen
  std::string tool;                                  // "compute-sanitizer" or "cuda-memcheck"
  bool custom_prefix = false;                        // --prefix was given
  std::vector<SanitizerRecord> records;              // the first kSanitizerRecordLimit
  std::int64_t record_count = 0;                     // of all printed
  std::optional<std::int64_t> total;                 // as the tool's summary says; printed records may be fewer
  std::optional<Frame> earliest_user, nearest_user;  // of the first host backtrace with one
  // The tool's own total, else what was printed.
  std::int64_t count() const { return total.value_or(record_count); }
};

// What a record's first line means; nullopt if none is known that begins so.
struct SanitizerKind {
  SanitizerRecord::Kind kind;
  std::string fault;
};
std::optional<SanitizerKind> kind_of_title(std::string_view title);

SanitizerReading parse_sanitizer(const LogText& log);

}  // namespace dsafuzz
