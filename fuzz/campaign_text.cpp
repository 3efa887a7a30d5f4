// The summary of a campaign for people.
#include <array>
#include <cstdio>

#include "fuzz/campaign.h"

namespace dsafuzz {
namespace {

// "; cuda:1: 0 of 5 (ok)"
std::string elsewhere_text(const std::vector<DeviceCheck>& checks) {
  std::string text;
  for (const DeviceCheck& check : checks) {
    text += "; " + check.device + ": " + std::to_string(check.confirmed) + " of " + std::to_string(check.of);
    if (!check.instead.empty()) text += " (" + check.instead + ")";
  }
  return text;
}

}  // namespace

int exit_code_of(const CampaignSummary& summary) {
  if (!summary.findings.empty() || summary.known > 0) return 1;
  return summary.problems.empty() ? 0 : 3;
}

std::string to_text(const CampaignSummary& s) {
  std::string text;
  std::array<char, 200> line;
  for (const ScenarioSummary& scenario : s.scenarios) {
    const double rate = scenario.seconds > 0 ? static_cast<double>(scenario.executions) / scenario.seconds : 0;
    std::snprintf(line.data(), line.size(), ": %llu executions, %.0f/s, %llu features",
                  static_cast<unsigned long long>(scenario.executions), rate,
                  static_cast<unsigned long long>(scenario.features));
    text += scenario.name + line.data();
    if (scenario.left_out > 0) text += ", " + std::to_string(scenario.left_out) + " left out as known";
    if (scenario.restarts > 0) text += ", " + std::to_string(scenario.restarts) + " worker restarts";
    text += "\n";
  }
  const bool several = s.devices.size() > 1;
  for (const DeviceSummary& device : s.devices) {
    if (!several) break;
    const double rate = device.seconds > 0 ? static_cast<double>(device.executions) / device.seconds : 0;
    std::snprintf(line.data(), line.size(), ": %llu executions, %.0f/s, %zu findings met there, %zu show there",
                  static_cast<unsigned long long>(device.executions), rate, device.findings, device.shows);
    text += "  " + device.name + line.data() + "\n";
  }
  if (s.findings.empty()) text += "No new finding.\n";
  for (const FindingSummary& finding : s.findings) {
    text += "\n" + finding.signature + "\n  scenario:  " + finding.scenario +
            "\n  confirmed: " + std::to_string(finding.confirmed) + " of " + std::to_string(finding.confirmations) +
            (finding.confirmed < finding.confirmations ? " (flaky)" : "") +
            (several ? " on " + finding.device + elsewhere_text(finding.elsewhere) : "") +
            "\n  minimal:   " + std::to_string(finding.elements) + (finding.elements == 1 ? " element" : " elements") +
            (finding.one_minimal ? ", 1-minimal" : ", may not be minimal") + "\n  folder:    " + finding.folder + "\n";
  }
  if (!s.classes.empty()) text += "\nMissing checks (a report for each in classes/):\n";
  for (const auto& [title, count] : s.classes) text += "  " + std::to_string(count) + "  " + title + "\n";
  if (s.known > 0) text += "\nFindings known before: " + std::to_string(s.known) + "\n";
  if (s.not_confirmed > 0) text += "Not confirmed, set aside: " + std::to_string(s.not_confirmed) + "\n";
  if (s.waiting > 0) {
    text += "Candidates not yet examined: " + std::to_string(s.waiting) +
            "; the next campaign in this folder begins with them.\n";
  }
  for (const std::string& problem : s.problems) text += "Trouble: " + problem + "\n";
  if (s.interrupted) text += "Stopped before the end.\n";
  return text;
}

}  // namespace dsafuzz
