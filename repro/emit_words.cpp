#include "repro/emit_words.h"

#include <utility>

#include "repro/api_name.h"
#include "repro/emit_plan.h"
#include "repro/escape.h"
#include "repro/python_program.h"
#include "repro/python_text.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {


}  // namespace

std::string device_of(const Finding& finding) {
  return finding.outcome.device.empty() ? finding.settings.device.text() : finding.outcome.device;
}

std::string device_sentence(const Finding& finding) {
  const std::string device = device_of(finding);
  if (device.starts_with("vcuda")) return "Found on vcuda, the virtual CUDA device; not run on a GPU.";
  if (device.starts_with("cpu")) return "Found on the CPU; not run on a GPU.";
  const auto gpu = finding.outcome.versions.find("gpu");
  return "Found on " + markdown_code(device) +
         (gpu == finding.outcome.versions.end() ? "" : ", " + markdown_text(gpu->second)) + ".";
}

std::string what_happens(const Finding& finding, const std::string& op) {
  switch (finding.signature.verdict) {
    case Verdict::device_assert: return op + " stops the device with a failed device-side assert.";
    case Verdict::memory_fault: return op + " accesses memory in a way that a GPU does not allow.";
    case Verdict::silent:
      return op + (finding.cpu_opinion.starts_with("raises") || finding.cpu_opinion.empty()
                       ? " accepts an input that the CPU rejects."
                       : " accepts an input that its documentation excludes.");
    case Verdict::wrong_result: return op + " returns another result than the CPU.";
    case Verdict::hang: return op + " does not end.";
    case Verdict::crash: return op + " ends the process without saying why.";
    case Verdict::host_reject: return op + " is refused on the host.";
    case Verdict::out_of_memory: return op + " runs out of memory.";
    case Verdict::ok: return op + " runs; nothing wrong was seen.";
    case Verdict::setup_failed: return op + " could not be run.";
  }
  std::unreachable();
}

std::string what_is_expected(const Finding& finding) {
  if (finding.signature.verdict == Verdict::wrong_result) return "The CPU's result, within rounding.";
  if (finding.signature.verdict == Verdict::host_reject) {
    return "The input is accepted, or the error says which argument is wrong and what would be right.";
  }
  return "A Python exception that names the argument, raised before a kernel runs, with the process still usable.";
}

std::string what_was_seen(const Finding& finding) {
  const Outcome& outcome = finding.outcome;
  switch (outcome.end) {
    case Outcome::End::returned: return "It returns.";
    case Outcome::End::threw:
      return "It raises " + markdown_code(outcome.error_type) + ": " + markdown_code(first_line(outcome.error));
    case Outcome::End::exited: return "The process exits with code " + std::to_string(outcome.code) + ".";
    case Outcome::End::signalled: return "The process ends by signal " + std::to_string(outcome.code) + ".";
    case Outcome::End::timed_out:
      return "It was still running after " + std::to_string(finding.settings.time_limit.count()) + " ms and was ended.";
    case Outcome::End::not_run: return "It was not run: " + markdown_code(first_line(outcome.error));
  }
  std::unreachable();
}

std::string certificate(const Finding& finding) {
  const std::string runs = std::to_string(finding.executions) + (finding.executions == 1 ? " run" : " runs");
  if (finding.one_minimal) return "1-minimal: no single edit of the reducer's list keeps the bug (" + runs + ").";
  if (finding.executions == 0) return "Not minimal: not reduced.";
  return "Not minimal: the reduction was ended by a limit (" + runs + ").";
}

std::string user_name(const std::string& op) {
  const ApiName* row = find_api_name(op);
  if (!row) return op;
  std::string_view text = row->python;
  if (text.starts_with("{self}[")) return "x[index]";
  text = text.substr(0, text.find('('));
  constexpr std::string_view kSelf = "{self}";
  return text.starts_with(kSelf) ? "torch.Tensor" + std::string(text.substr(kSelf.size())) : std::string(text);
}

std::string python_snippet(const Case& c, bool on_cpu) {
  PythonText out;
  if (uses_modules(c)) out.add("import os");
  out.add("import torch");
  out.add("");
  out.add(on_cpu ? "device = \"cpu\"" : "device = \"cuda\"");
  const PythonProgram program = python_program(c);
  out.add(program.tensors);
  out.add(program.steps);
  if (!on_cpu) out.add("torch.cuda.synchronize()");
  return out.text();
}

}  // namespace dsafuzz
