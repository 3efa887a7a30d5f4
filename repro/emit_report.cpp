// The bug report in Markdown. Facts in the order a maintainer asks for them; nothing is claimed that was not run.
#include "repro/case_text.h"
#include "repro/emit.h"
#include "repro/emit_words.h"
#include "repro/escape.h"
#include "repro/missing_check.h"

namespace dsafuzz {
std::string emit_report(const Finding& finding) {
  const Signature& signature = finding.signature;
  std::string out = "# " + std::string(to_text(signature.verdict)) + " in " + markdown_code(signature.op) + "\n\n";
  out += what_happens(finding, markdown_code(signature.op)) + " " + device_sentence(finding) + "\n\n";
  if (const std::string text = signature.text(); !text.empty()) out += "Signature: " + markdown_code(text) + "\n\n";
  out += "Missing check: " + markdown_text(missing_check(finding.minimal, signature).title) + "\n\n";
  if (!finding.advice.cause.empty()) out += "Cause: " + markdown_text(finding.advice.cause) + "\n\n";

  out += "## To reproduce\n\n";
  const std::string device = device_of(finding);
  const std::string word = device.substr(0, device.find(':'));
  out += markdown_code("python3 repro.py " + word) + (word == "cpu" ? "" : " (or `cpu`, for the CPU's opinion)") +
         "; exit code 1 means that the bug shows. The minimal case:\n\n";
  out += markdown_block(to_yaml(finding.minimal), "yaml") + "\n";

  out += "## Expected\n\n" + what_is_expected(finding) + "\n\n";
  out += "## Actual\n\n" + what_was_seen(finding) + "\n\n";
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
  for (const DeviceCheck& other : finding.elsewhere) {
    out += "- On " + markdown_text(other.device) + ": " + std::to_string(other.confirmed) + " of " +
           std::to_string(other.of) + (other.instead.empty() ? "" : ", else " + markdown_text(other.instead)) + ".\n";
  }
  out += "- Reduction: " + certificate(finding) + "\n";
  for (const auto& [name, version] : finding.outcome.versions) {
    out += "- " + markdown_text(name) + ": " + markdown_text(version) + "\n";
  }
  return out;
}

}  // namespace dsafuzz
