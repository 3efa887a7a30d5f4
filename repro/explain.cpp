// The parts that every fault has; explain_assert.cpp and explain_fault.cpp know the particulars.
#include "repro/explain.h"

#include <algorithm>
#include <utility>

#include "repro/explain_parts.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

std::string place_of(const Frame& frame) {
  std::string text = frame.file.empty() ? "an unnamed file" : frame.file;
  if (frame.line > 0) text += ":" + std::to_string(frame.line);
  if (!frame.function.empty()) text += " in " + frame.function;
  return text;
}

void add_own_frame(const LogReading& reading, Explanation& out) {
  if (!reading.earliest_user) {
    const bool of_program = reading.kind <= LogKind::launch_failure || reading.kind == LogKind::host_error;
    if (out.fault && of_program)
      out.open.emplace_back("No Python frame of your own is in the log: the call cannot be named from it.");
    return;
  }
  out.own_frame = place_of(*reading.earliest_user);
  const bool one = !reading.nearest_user || *reading.nearest_user == *reading.earliest_user;
  if (!one) out.own_frame += ", which led to " + place_of(*reading.nearest_user);
  if (!reading.late_trace) return;
  out.own_frame_remark =
      *reading.late_trace
          ? "Kernels run asynchronously: this call may only have noticed a failure that an earlier call caused."
          : "The call was waited for (CUDA_LAUNCH_BLOCKING=1): this is the call that failed, unless a CUDA graph was "
            "replayed.";
}

void add_echoes(const LogReading& reading, Explanation& out) {
  const bool sticky = reading.error && reading.error->code && is_sticky(*reading.error->code);
  if (reading.error && sticky && reading.kind == LogKind::device_assert) {
    std::string text = "`" + reading.error->text + "`";
    if (!reading.error->exception.empty()) text = reading.error->exception + " " + text;
    if (!reading.api_call.empty()) text += " in " + reading.api_call;
    out.echoes.push_back(text +
                         " is how a later call reported it. Every CUDA call after it fails the same way: only a "
                         "new process helps.");
  }
  for (const LogEcho& echo : reading.echoes) {
    out.echoes.push_back(std::string(echo.what) + " (" + std::to_string(echo.count) +
                         (echo.count == 1 ? " line)" : " lines)"));
  }
}

void add_doubts(const LogReading& reading, Explanation& out) {
  if (reading.truncated) {
    out.open.emplace_back(
        "The log is cut or has parts left out: counts are lower bounds, and the first fault may be missing.");
  }
  if (reading.left_out > 0) {
    out.open.push_back("The log is so long that " + std::to_string(reading.left_out) +
                       " lines in its middle were not looked at.");
  }
}

}  // namespace

std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_word(c) || c == '/' || c == '.' || c == '-' || c == '_' || c == '+' || c == ':';
  });
  if (plain && !text.starts_with('-')) return std::string(text);
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out + "'";
}

std::string program_of(const LogReading& reading) {
  const bool script = reading.earliest_user && reading.earliest_user->file.ends_with(".py");
  return script ? shell_word(reading.earliest_user->file) : "YOUR_PROGRAM.py";
}

Explanation explain(const LogReading& reading, std::span<const KnownScenario> scenarios) {
  Explanation out;
  if (reading.kind == LogKind::device_assert && !reading.asserts.records.empty()) {
    explain_assert(reading, scenarios, out);
  } else {
    explain_fault(reading, scenarios, out);
  }
  add_own_frame(reading, out);
  add_echoes(reading, out);
  add_doubts(reading, out);
  return out;
}

}  // namespace dsafuzz
