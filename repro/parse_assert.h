// Lines that a failed device assert prints. The driver writes one per failing thread:
//   FILE:LINE: FUNC: block: [x,y,z], thread: [x,y,z] Assertion `COND` failed.
// Windows leaves FUNC out; CUDA_KERNEL_ASSERT_PRINTF, ROCm, XPU and Triton have forms of their own, all read here. A
// record may start in mid-line and several may share one line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "repro/log_text.h"
#include "repro/scan.h"

namespace dsafuzz {

// Who printed it, where the form tells.
enum class AssertForm : std::uint8_t { cuda, rocm, xpu, triton_rocm, paddle, dsa };

// All lines with the same file, line and condition.
struct AssertRecord {
  AssertForm form = AssertForm::cuda;
  std::string file;                     // trimmed_path; "unknown" where Triton says so
  std::int64_t line = 0;                // 0: unknown
  std::optional<std::string> function;  // as printed; none on Windows or where it says (null)
  std::string condition;                // without its back quotes
  std::optional<Triple> block, thread;  // of the first thread printed whole; none on ROCm and XPU
  std::int64_t count = 0;               // failing threads printed: a lower bound of those that failed
  std::size_t log_line = 0;             // where the first one stands in LogText::lines
  std::string verbatim;                 // that line, at most kVerbatimLimit bytes
};
inline constexpr std::size_t kVerbatimLimit = 2000;
inline constexpr std::size_t kAssertRecordLimit = 64;  // distinct ones kept; further ones are only counted

// One GPU's part of a DSA report.
struct DsaDevice {
  std::int64_t device = 0, reported = 0, printed = 0;
};

struct AssertReading {
  std::vector<AssertRecord> records;  // in order of first appearance
  std::int64_t count = 0;             // of all
  std::int64_t spoiled = 0;           // pieces of lines that lost their site, condition or end; in no count
  std::vector<DsaDevice> devices;     // of a DSA report only
};

AssertReading parse_asserts(const LogText& log);

}  // namespace dsafuzz
