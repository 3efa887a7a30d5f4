// The bug report in Markdown. Facts in the order a maintainer asks for them; nothing is claimed that was not run.
#include <utility>

#include "repro/case_text.h"
#include "repro/emit.h"
#include "repro/escape.h"

namespace dsafuzz {
namespace {

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

std::string what_happens(const Finding& finding) {
  const std::string op = markdown_code(finding.signature.op);
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

std::string expected(const Finding& finding) {
  if (finding.signature.verdict == Verdict::wrong_result) return "The CPU's result, within rounding.";
  if (finding.signature.verdict == Verdict::host_reject) {
    return "The input is accepted, or the error says which argument is wrong and what would be right.";
  }
  return "A Python exception that names the argument, raised before a kernel runs, with the process still usable.";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string actual(const Finding& finding) {
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

}  // namespace

std::string emit_report(const Finding& finding) {
  const Signature& signature = finding.signature;
  std::string out = "# " + std::string(to_text(signature.verdict)) + " in " + markdown_code(signature.op) + "\n\n";
  out += what_happens(finding) + " " + device_sentence(finding) + "\n\n";
  if (const std::string text = signature.text(); !text.empty()) out += "Signature: " + markdown_code(text) + "\n\n";
  if (!finding.advice.cause.empty()) out += "Cause: " + markdown_text(finding.advice.cause) + "\n\n";

  out += "## To reproduce\n\n";
  const std::string device = device_of(finding);
  const std::string word = device.substr(0, device.find(':'));
  out += markdown_code("python3 repro.py " + word) + (word == "cpu" ? "" : " (or `cpu`, for the CPU's opinion)") +
         "; exit code 1 means that the bug shows. The minimal case:\n\n";
  out += markdown_block(to_yaml(finding.minimal), "yaml") + "\n";

  out += "## Expected\n\n" + expected(finding) + "\n\n";
  out += "## Actual\n\n" + actual(finding) + "\n\n";
  if (!finding.evidence.empty()) {
    std::string lines;
    for (const std::string& line : finding.evidence) lines += line + "\n";
    out += markdown_block(lines) + "\n";
  }
  if (finding.earliest_frame) {
    const Frame& frame = *finding.earliest_frame;
    std::string place = frame.function;
    if (!frame.file.empty()) place += " at " + frame.file + (frame.line > 0 ? ":" + std::to_string(frame.line) : "");
    out += "Earliest frame: " + markdown_code(place) + "\n\n";
  }
  if (!finding.cpu_opinion.empty()) out += "The CPU, on the same input: " + markdown_code(finding.cpu_opinion) + "\n\n";

  if (!finding.advice.remedy.empty() || !finding.advice.guard.empty()) {
    out += "## Remedy\n\n";
    if (!finding.advice.remedy.empty()) out += markdown_text(finding.advice.remedy) + "\n\n";
    if (!finding.advice.guard.empty()) out += markdown_block(finding.advice.guard, "python") + "\n";
  }

  out += "## Facts\n\n";
  out += "- " + device_sentence(finding) + "\n";
  out += "- Confirmed: " + std::to_string(finding.confirmed) + " of " + std::to_string(finding.confirmations) +
         " fresh processes gave this signature.\n";
  out += "- Reduction: " + certificate(finding) + "\n";
  for (const auto& [name, version] : finding.outcome.versions) {
    out += "- " + markdown_text(name) + ": " + markdown_text(version) + "\n";
  }
  return out;
}

}  // namespace dsafuzz
