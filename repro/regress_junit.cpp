// A run of a regression corpus as JUnit XML, in the form that GitLab, Jenkins and GitHub's report actions read: a
// failure for what differs, an error for what could not be judged, a reason for what is skipped.
#include <cstdio>
#include <utility>

#include "repro/escape.h"
#include "repro/regress_run.h"

namespace dsafuzz {
namespace {

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + xml_escaped(value) + "\"";
}

std::string count_attribute(std::string_view name, std::size_t value) { return attribute(name, std::to_string(value)); }

std::string time_attribute(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds);
  return attribute("time", text);
}

std::string details(const RegressRow& row) {
  std::string out;
  for (const std::string& line : row.evidence) out += line + "\n";
  if (out.empty() && !row.error.empty()) out = row.error + "\n";
  return xml_escaped(out);
}

std::string body(const RegressRow& row) {
  const std::string open = attribute("message", row_text(row)) + attribute("type", to_text(row.status));
  switch (row.status) {
    case RegressStatus::differs:
    case RegressStatus::flaky: return "      <failure" + open + ">" + details(row) + "</failure>\n";
    case RegressStatus::unreadable:
    case RegressStatus::not_run: return "      <error" + open + ">" + details(row) + "</error>\n";
    case RegressStatus::skipped: return "      <skipped" + attribute("message", row.reason) + "/>\n";
    case RegressStatus::no_expectation:
    case RegressStatus::as_expected: return "      <system-out>" + xml_escaped(row_text(row)) + "</system-out>\n";
  }
  std::unreachable();
}

}  // namespace

std::string regress_junit(const RegressRun& run) {
  const std::string totals =
      count_attribute("tests", run.rows.size()) +
      count_attribute("failures", run.count(RegressStatus::differs) + run.count(RegressStatus::flaky)) +
      count_attribute("errors", run.count(RegressStatus::unreadable) + run.count(RegressStatus::not_run)) +
      count_attribute("skipped", run.count(RegressStatus::skipped)) + time_attribute(run.seconds);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", "dsafuzz regress") +
                    totals + ">\n  <testsuite" + attribute("name", "dsafuzz regress on " + run.device) + totals +
                    ">\n" + "    <properties>\n      <property" + attribute("name", "device") +
                    attribute("value", run.device) + "/>\n";
  for (const auto& [name, version] : run.versions) {
    out += "      <property" + attribute("name", name) + attribute("value", version) + "/>\n";
  }
  out += "    </properties>\n";
  for (const RegressRow& row : run.rows) {
    out += "    <testcase" + attribute("classname", "dsafuzz." + (row.device.empty() ? run.device : row.device)) +
           attribute("name", row.name) + attribute("file", row.file) + time_attribute(row.seconds) + ">\n" + body(row) +
           "    </testcase>\n";
  }
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace dsafuzz
