#include "repro/redact_finding.h"

#include <utility>

namespace dsafuzz {

Finding redacted(Finding finding, const PrivateNames& names) {
  const auto clean = [&](std::string& text) { text = redacted_text(std::move(text), names); };
  clean(finding.outcome.error);
  clean(finding.outcome.log);
  for (std::string& line : finding.evidence) clean(line);
  if (finding.earliest_frame) {
    clean(finding.earliest_frame->function);
    clean(finding.earliest_frame->file);
  }
  clean(finding.cpu_opinion);
  clean(finding.advice.cause);
  clean(finding.advice.remedy);
  for (DeviceCheck& check : finding.elsewhere) clean(check.instead);
  return finding;
}

}  // namespace dsafuzz
