// What a nightly run says to people, in a terminal, a mail or a log.
#include <algorithm>

#include "fuzz/nightly.h"
#include "repro/escape.h"

namespace dsafuzz {
namespace {

std::string list_of(const std::string& title, const std::vector<NightlyFinding>& findings) {
  if (findings.empty()) return "";
  std::string text = "\n" + title + "\n";
  for (const NightlyFinding& finding : findings) {
    text += "  " + finding.text + (finding.scenario.empty() ? "" : " (" + finding.scenario + ")") +
            (finding.accepted ? ", accepted" : "") + "\n      " + finding.name + "\n";
    if (!finding.seen.empty()) text += "      now: " + finding.seen + "\n";
  }
  return text;
}

}  // namespace

int NightlySummary::exit_code(bool has_baseline) const {
  const auto open = [](const std::vector<NightlyFinding>& findings) {
    return std::ranges::any_of(findings, [](const NightlyFinding& finding) { return !finding.accepted; });
  };
  if (!differences.empty() || open(fresh) || (has_baseline && open(known))) return 1;
  return problems.empty() && !interrupted ? 0 : 3;
}

std::string to_text(const NightlySummary& s, bool has_baseline) {
  std::string text;
  for (const std::string& step : s.steps) text += step + "\n";
  text += list_of("New:", s.fresh);
  text += list_of("Known, and still there:", s.known);
  text += list_of("Gone:", s.gone);
  if (!s.differences.empty()) text += "\nRegression cases that differ:\n";
  for (const std::string& difference : s.differences) text += "  " + difference + "\n";
  if (!s.problems.empty()) text += "\n";
  for (const std::string& problem : s.problems) text += "Trouble: " + problem + "\n";
  if (s.interrupted) text += "Stopped before the end; the next nightly run completes it.\n";
  text += "\n" + std::to_string(s.fresh.size()) + " new, " + std::to_string(s.known.size()) + " known, " +
          std::to_string(s.gone.size()) + " gone, " + std::to_string(s.differences.size()) + " of " +
          std::to_string(s.regressions) + " regression cases differ, seed " + std::to_string(s.seed) + ": " +
          (s.exit_code(has_baseline) == 0   ? "nothing to do"
           : s.exit_code(has_baseline) == 1 ? "something to act on"
                                            : "not everything could be done") +
          "\n";
  return as_utf8(text);
}

}  // namespace dsafuzz
