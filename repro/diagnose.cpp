// Judgement in the order of evidence: a record of the cause in the log; the error that reached the program; how the
// process ended. The texts that decide are tables.
#include "repro/diagnose.h"

#include <algorithm>
#include <array>
#include <utility>

#include "repro/normalise.h"
#include "repro/parse_log.h"

namespace dsafuzz {
namespace {

constexpr std::size_t kDiagnosisEvidenceLimit = 20;

constexpr std::array<std::string_view, 11> kSetupTexts{
    "Could not run 'dsafuzz::",  // our own operators, where nvcc did not build them for this device
    "invalid device ordinal",    // the case or the command names a device that is not there
    "no kernel image is available",
    "Found no NVIDIA driver",
    "No CUDA GPUs are available",
    "no CUDA-capable device is detected",
    "driver on your system is too old",
    "CUDA driver version is insufficient",
    "Torch not compiled with CUDA enabled",
    "PyTorch is not linked with support for",
    "Cannot initialize CUDA without"};

constexpr std::array<std::string_view, 4> kMemoryTexts{"out of memory", "can't allocate memory", "not enough memory",
                                                       "bad_alloc"};

// A library call that failed in the device; the cause may have been lost, the context is.
constexpr std::array<std::string_view, 4> kLibraryTexts{"CUBLAS_STATUS_EXECUTION_FAILED",
                                                        "CUBLAS_STATUS_INTERNAL_ERROR", "CUDNN_STATUS_EXECUTION_FAILED",
                                                        "CUDNN_STATUS_INTERNAL_ERROR"};

constexpr std::array<std::pair<int, std::string_view>, 9> kSignals{{{4, "SIGILL"},
                                                                    {5, "SIGTRAP"},
                                                                    {6, "SIGABRT"},
                                                                    {7, "SIGBUS"},
                                                                    {8, "SIGFPE"},
                                                                    {9, "SIGKILL"},
                                                                    {11, "SIGSEGV"},
                                                                    {15, "SIGTERM"},
                                                                    {24, "SIGXCPU"}}};

template <std::size_t N>
bool holds_any(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return contains(text, word); });
}

std::string signal_name(int number) {
  const auto found = std::ranges::find(kSignals, number, &std::pair<int, std::string_view>::first);
  return found == kSignals.end() ? "signal " + std::to_string(number) : std::string(found->second);
}

std::string without_namespace(std::string_view type) {
  const std::size_t colon = type.rfind("::");
  return std::string(colon == std::string_view::npos ? type : type.substr(colon + 2));
}

void judge(Diagnosis& d, Verdict verdict, std::string condition) {
  d.signature.verdict = verdict;
  d.signature.condition = std::move(condition);
}

// "Invalid __global__ write of size 4 bytes, after the allocation"
std::string memory_condition(const SanitizerRecord& record) {
  std::string condition;
  std::string_view rest = record.title;
  if (const auto before = take_until(rest, " of size ")) {
    const auto size = take_grouped_number(rest);
    if (size) condition = std::string(*before) + " of size " + std::to_string(*size) + " bytes";
  }
  if (condition.empty()) condition = normalised_message(record.title);
  if (!record.relation.empty()) condition += ", " + record.relation;
  return condition;
}

void take_place(Diagnosis& d, const LogReading& reading) {
  d.signature.kernel = short_kernel_name(reading.kernel.value_or(""));
  d.signature.file = signature_file(reading.file);
}

const SanitizerRecord& primary_record(const LogReading& reading) {
  const auto found = std::ranges::find_if(
      reading.sanitizer.records, [&](const SanitizerRecord& record) { return record.fault == reading.primary_fault; });
  return found == reading.sanitizer.records.end() ? reading.sanitizer.records.front() : *found;
}

// A record in the log that names the cause; false if there is none.
bool judge_by_record(Diagnosis& d, const LogReading& reading) {
  switch (reading.kind) {
    case LogKind::device_assert:
      judge(d, Verdict::device_assert, reading.condition.value_or(""));
      take_place(d, reading);
      return true;
    case LogKind::sanitizer_memcheck:
    case LogKind::sanitizer_racecheck:
    case LogKind::sanitizer_initcheck:
    case LogKind::sanitizer_synccheck:
      judge(d, Verdict::memory_fault, memory_condition(primary_record(reading)));
      take_place(d, reading);
      return true;
    case LogKind::gdb_exception:
    case LogKind::gpu_coredump: {
      const bool assertion = reading.primary_fault == "device_assert";
      judge(d, assertion ? Verdict::device_assert : Verdict::memory_fault, assertion ? "" : reading.gdb.exception);
      take_place(d, reading);
      return true;
    }
    case LogKind::host_sanitizer: {
      const HostSanitizerReport& report = *reading.host_sanitizer;
      judge(d, Verdict::memory_fault, report.access.empty() ? report.fault : report.fault + ", " + report.access);
      if (!report.frames.empty()) {
        d.signature.kernel = short_kernel_name(report.frames[0].function);
        d.signature.file = signature_file(report.frames[0].file);
      }
      return true;
    }
    case LogKind::none:
    case LogKind::cuda_error:
    case LogKind::illegal_memory_access:
    case LogKind::misaligned_address:
    case LogKind::launch_failure:
    case LogKind::no_kernel_image:
    case LogKind::oom:
    case LogKind::driver_missing:
    case LogKind::driver_too_old:
    case LogKind::process_killed:
    case LogKind::host_error:
    case LogKind::sanitizer_leak:
    case LogKind::sanitizer_api_error:
    case LogKind::sanitizer_tool_error:
    case LogKind::sanitizer_clean:
    case LogKind::xid:
    case LogKind::environment:
    case LogKind::environment_failure: return false;
  }
  std::unreachable();
}

// A CUDA error that loses the context, or memory or installation trouble; false if the text says none of these.
bool judge_by_text(Diagnosis& d, std::string_view text) {
  const LogReading reading = parse_log(text);
  if (holds_any(text, kSetupTexts)) return judge(d, Verdict::setup_failed, normalised_message(text)), true;
  if (reading.error && reading.error->code && is_sticky(*reading.error->code)) {
    const std::string_view fault = fault_word(*reading.error);
    if (fault == "device_assert") return judge(d, Verdict::device_assert, ""), true;
    judge(d, fault == "launch_timeout" ? Verdict::hang : Verdict::memory_fault, reading.error->text);
    return true;
  }
  if (holds_any(text, kMemoryTexts)) return judge(d, Verdict::out_of_memory, normalised_message(text)), true;
  if (reading.error && holds_any(reading.error->name, kLibraryTexts)) {
    return judge(d, Verdict::memory_fault, reading.error->name), true;
  }
  return false;
}

// How the process died, with what the C++ runtime said of it.
std::string death(const Outcome& outcome) {
  std::string how =
      outcome.end == Outcome::End::signalled ? signal_name(outcome.code) : "exit code " + std::to_string(outcome.code);
  std::string_view rest = outcome.log;
  if (take_until(rest, "what():  ")) how += ": " + normalised_message(rest);
  return how;
}

void judge_by_end(Diagnosis& d, const Outcome& outcome, const LogReading& reading) {
  switch (outcome.end) {
    case Outcome::End::returned: return judge(d, Verdict::ok, "");
    case Outcome::End::threw:
      if (judge_by_text(d, outcome.error)) return;
      if (outcome.error_type.ends_with("OutOfMemoryError") || outcome.error_type.ends_with("bad_alloc")) {
        return judge(d, Verdict::out_of_memory, normalised_message(outcome.error));
      }
      return judge(d, Verdict::host_reject, normalised_message(outcome.error));
    case Outcome::End::exited:
    case Outcome::End::signalled:
      if (!outcome.error.empty() && judge_by_text(d, outcome.error)) return;
      if (reading.error && judge_by_text(d, "CUDA error: " + reading.error->text)) return;
      if (reading.system && judge_by_text(d, reading.system->verbatim)) return;
      return judge(d, Verdict::crash, death(outcome));
    case Outcome::End::timed_out: return judge(d, Verdict::hang, "");
    case Outcome::End::not_run: return judge(d, Verdict::setup_failed, normalised_message(outcome.error));
  }
  std::unreachable();
}

std::string op_of(const Case& c, const Outcome& outcome) {
  if (!outcome.op.empty()) return outcome.op;
  const bool in_steps = outcome.step >= 0 && static_cast<std::size_t>(outcome.step) < c.steps.size();
  return in_steps ? c.steps[static_cast<std::size_t>(outcome.step)].op : "";
}

void add_evidence(Diagnosis& d, std::string line) {
  if (line.empty() || d.evidence.size() >= kDiagnosisEvidenceLimit) return;
  if (std::ranges::find(d.evidence, line) == d.evidence.end()) d.evidence.push_back(std::move(line));
}

// "c10::IndexError: Target 5 is out of bounds.", the first line only
std::string error_line(const Outcome& outcome) {
  std::string_view message = outcome.error;
  message = trimmed(message.substr(0, message.find('\n')));
  if (outcome.error_type.empty()) return std::string(message.substr(0, kVerbatimLimit));
  return outcome.error_type + ": " + std::string(message.substr(0, kVerbatimLimit));
}

// The user's own frame if there is one; else the innermost C++ frame that names an operator.
std::optional<Frame> earliest_frame(const LogReading& reading) {
  if (reading.earliest_user) return reading.earliest_user;
  for (const std::string_view owner : {"at::native::", "dsafuzz::", "at::_ops::"}) {
    for (const CppFrame& frame : reading.frames.cpp) {
      // `at::_ops::nll_loss_forward::call(...)`: the arguments' types say nothing here, and may name the owner too.
      const std::string symbol = frame.symbol.substr(0, frame.symbol.find('('));
      if (contains(symbol, owner) && !symbol.starts_with("c10::")) return Frame{symbol, frame.file, frame.line};
    }
  }
  return std::nullopt;
}

}  // namespace

Diagnosis diagnose(const Case& c, const Outcome& outcome) {
  const LogReading reading = parse_log(outcome.log);
  Diagnosis d;
  d.signature.op = op_of(c, outcome);
  if (outcome.end == Outcome::End::not_run || !judge_by_record(d, reading)) judge_by_end(d, outcome, reading);
  if (d.signature.verdict != Verdict::ok) {
    for (const std::string& line : reading.evidence) add_evidence(d, line);
    if (!outcome.error.empty()) add_evidence(d, error_line(outcome));
    d.earliest_frame = earliest_frame(reading);
    if (!d.earliest_frame) d.earliest_frame = earliest_frame(parse_log(outcome.error));
  }
  return d;
}

Diagnosis diagnose_silent(const Case& c, const Outcome& device, const Outcome& cpu) {
  Diagnosis d;
  d.signature.op = op_of(c, cpu);
  judge(d, Verdict::silent, normalised_message(cpu.error));
  add_evidence(d, "cpu: " + error_line(cpu));
  add_evidence(d, (device.device.empty() ? "device" : device.device) + ": " + opinion(device));
  d.earliest_frame = earliest_frame(parse_log(cpu.error));
  return d;
}

std::string opinion(const Outcome& outcome) {
  std::string_view message = outcome.error;
  message = trimmed(message.substr(0, message.find('\n')));
  switch (outcome.end) {
    case Outcome::End::returned: return "returns";
    case Outcome::End::threw: return "raises " + without_namespace(outcome.error_type) + ": " + std::string(message);
    case Outcome::End::exited: return "exits with code " + std::to_string(outcome.code);
    case Outcome::End::signalled: return "dies of " + signal_name(outcome.code);
    case Outcome::End::timed_out: return "does not end in time";
    case Outcome::End::not_run: return "could not be run: " + std::string(message);
  }
  std::unreachable();
}

}  // namespace dsafuzz
