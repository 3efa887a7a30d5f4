// The stop is a handful of lines in a fixed order; each fills what it knows. The fault is where the exception was
// triggered, the stop a little later.
#include "repro/parse_gdb.h"

#include <array>
#include <utility>

#include "repro/parse_assert.h"

namespace dsafuzz {
namespace {

// Names of cuda-gdb and, in capitals, of the driver's core dump; the more particular first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kFaults{{
    {"Illegal Address", "illegal_memory_access"},
    {"ILLEGAL_ADDRESS", "illegal_memory_access"},
    {"Misaligned Address", "misaligned_address"},
    {"MISALIGNED_ADDRESS", "misaligned_address"},
    {"Out-of-range Address", "out_of_range_address"},
    {"OUT_OF_RANGE_ADDRESS", "out_of_range_address"},
    {"Illegal Instruction", "illegal_instruction"},
    {"ILLEGAL_INSTRUCTION", "illegal_instruction"},
    {"Stack Overflow", "stack_overflow"},
    {"STACK_OVERFLOW", "stack_overflow"},
    {"Invalid Address Space", "invalid_address_space"},
    {"INVALID_ADDRESS_SPACE", "invalid_address_space"},
    {"Invalid PC", "invalid_pc"},
    {"INVALID_PC", "invalid_pc"},
    {"Assert", "device_assert"},
    {"ASSERT", "device_assert"},
    {"Invalid Managed Memory Access", "illegal_memory_access"},
}};

std::string fault_of(std::string_view name) {
  for (const auto& [text, fault] : kFaults) {
    if (contains(name, text)) return std::string(fault);
  }
  return "gpu_exception";
}

void read_exception(std::string_view name, std::size_t number, GdbReading& gdb) {
  if (!gdb.exception.empty()) return;
  gdb.exception = std::string(trimmed(name));
  gdb.fault = fault_of(name);
  gdb.log_line = number;
}

// The exception was triggered at PC 0x..[  FUNC][ (FILE:LINE[ in FUNC inlined from FILE:LINE])]
void read_triggered(std::string_view rest, GdbReading& gdb) {
  while (!rest.empty() && rest.front() != ' ') rest.remove_prefix(1);
  if (rest.ends_with(')')) {
    const std::size_t open = rest.rfind(" (");
    std::string_view site =
        open == std::string_view::npos ? std::string_view() : rest.substr(open + 2, rest.size() - open - 3);
    if (contains(site, " inlined from ")) site = site.substr(0, site.find(" in "));
    const auto place = split_file_line(site);
    if (place && place->line < 1'000'000'000) {
      gdb.file = trimmed_path(place->file);
      gdb.line = static_cast<int>(place->line);
      rest = rest.substr(0, open);
    }
  }
  rest = trimmed(rest);
  if (!rest.empty()) gdb.kernel = std::string(rest);
}

void read_focus(std::string_view rest, GdbReading& gdb) {
  std::string_view view = rest;
  if (take_until(view, " block ")) gdb.block = take_triple(view, '(', ')');
  view = rest;
  if (take_until(view, " thread ")) gdb.thread = take_triple(view, '(', ')');
}

// 0x.. in FUNC<<<(gx,gy,gz),(bx,by,bz)>>> (..) at FILE:LINE, and in a backtrace "#1  FUNC<<<(..".
void read_frame(std::string_view line, GdbReading& gdb) {
  const std::size_t launch = line.find("<<<(");
  if (launch == std::string_view::npos) return;
  std::string_view function = line.substr(0, launch);
  if (!take_until(function, " in ")) {
    if (!take(function, "#") || !take_number(function)) return;
    function = trimmed(function);
  }
  if (gdb.kernel.empty() && !function.starts_with("__assert")) gdb.kernel = std::string(function);
}

}  // namespace

GdbReading parse_gdb(const LogText& log) {
  constexpr std::size_t kVerbatimLines = 8;
  GdbReading gdb;
  for (std::size_t i = 0; i < log.lines.size(); ++i) {
    const std::string_view line = log.lines[i];
    std::string_view rest = line;
    const bool had_exception = !gdb.exception.empty();
    if (contains(line, "(cuda-gdb)") || line.starts_with("[Inferior 1 ")) gdb.session = true;
    if (contains(line, "Opening GPU coredump: ")) gdb.coredump = true;
    if (take_until(rest, "] coredump: ")) {
      if (!take(rest, "Detected an exception of type CUDBG_EXCEPTION_")) continue;
      gdb.coredump = true;
      read_exception(rest.substr(0, rest.find(' ')), i, gdb);
    } else if (take(rest, "CUDA Exception: ")) {
      read_exception(rest, i, gdb);
    } else if (trimmed(line) == "Assertion failed.") {
      read_exception("Assertion failed", i, gdb);
    } else if (rest = line; take_until(rest, "received signal CUDA_EXCEPTION_")) {
      if (take_until(rest, ", ")) read_exception(rest.substr(0, rest.find('.')), i, gdb);
    } else if (rest = line; take(rest, "The exception was triggered at PC ")) {
      read_triggered(rest, gdb);
    } else if (rest = line; take_until(rest, "ocus set to CUDA kernel") || take_until(rest, "focus to CUDA kernel")) {
      read_focus(rest, gdb);
    } else if (had_exception) {
      read_frame(line, gdb);
    }
    if (!gdb.exception.empty() && !line.empty() && gdb.verbatim.size() < kVerbatimLines) {
      gdb.verbatim.emplace_back(line.substr(0, kVerbatimLimit));
    }
  }
  gdb.session = gdb.session || !gdb.exception.empty();
  return gdb;
}

}  // namespace dsafuzz
