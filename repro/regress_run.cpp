#include "repro/regress_run.h"

#include <algorithm>
#include <cstdio>
#include <tuple>
#include <utility>

#include "repro/escape.h"

namespace dsafuzz {
namespace {

// As a table and a summary say it.
std::string spoken(RegressStatus status) {
  std::string out(to_text(status));
  std::ranges::replace(out, '_', ' ');
  return out;
}

std::string one_line(std::string_view text) {
  std::string out = as_utf8(text);
  std::ranges::replace_if(
      out, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return out;
}

}  // namespace

std::string_view to_text(RegressStatus status) {
  switch (status) {
    case RegressStatus::differs: return "differs";
    case RegressStatus::flaky: return "flaky";
    case RegressStatus::unreadable: return "unreadable";
    case RegressStatus::not_run: return "not_run";
    case RegressStatus::skipped: return "skipped";
    case RegressStatus::no_expectation: return "no_expectation";
    case RegressStatus::as_expected: return "as_expected";
  }
  std::unreachable();
}

std::optional<RegressStatus> parse_regress_status(std::string_view text) {
  const auto found = std::ranges::find(kRegressStatuses, text, [](RegressStatus s) { return to_text(s); });
  return found == kRegressStatuses.end() ? std::nullopt : std::optional(*found);
}

std::size_t RegressRun::count(RegressStatus status) const {
  return static_cast<std::size_t>(std::ranges::count(rows, status, &RegressRow::status));
}

void sort_worst_first(RegressRun& run) {
  std::ranges::sort(run.rows, {}, [](const RegressRow& row) { return std::tie(row.status, row.name); });
}

std::string seen_text(const Signature& seen) {
  std::string out(to_text(seen.verdict));
  if (seen.verdict == Verdict::ok) return out;
  return out + (seen.op.empty() ? "" : " at " + seen.op) + ": " + seen.text();
}

std::string row_text(const RegressRow& row) {
  const std::string seen = row.seen ? seen_text(*row.seen) : "";
  switch (row.status) {
    case RegressStatus::differs:
    case RegressStatus::flaky:
      return "expected " + row.expected + ", seen " + seen + " (" + std::to_string(row.differed) + " of " +
             std::to_string(row.runs) + " runs)";
    case RegressStatus::unreadable:
    case RegressStatus::not_run:
    case RegressStatus::skipped: return row.reason;
    case RegressStatus::no_expectation:
    case RegressStatus::as_expected: return seen;
  }
  std::unreachable();
}

std::string regress_table(const RegressRun& run, bool quiet) {
  std::size_t width = 4;
  const auto is_shown = [&](const RegressRow& row) {
    return !quiet || (row.status != RegressStatus::as_expected && row.status != RegressStatus::no_expectation);
  };
  for (const RegressRow& row : run.rows) {
    if (is_shown(row)) width = std::max(width, std::min<std::size_t>(48, one_line(row.name).size()));
  }
  std::string out;
  for (const RegressRow& row : run.rows) {
    if (!is_shown(row)) continue;
    std::string status = spoken(row.status), name = one_line(row.name);
    status.resize(std::max<std::size_t>(status.size(), 16), ' ');
    name.resize(std::max(name.size(), width), ' ');
    out += status + name + "  " + one_line(row_text(row)) + "\n";
  }
  return out;
}

std::string regress_summary(const RegressRun& run) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f", run.seconds);
  std::string out = std::to_string(run.rows.size()) + (run.rows.size() == 1 ? " case" : " cases") + " on " +
                    run.device + " in " + seconds + " s";
  const char* separator = ": ";
  for (const RegressStatus status : kRegressStatuses) {
    const std::size_t count = run.count(status);
    if (count == 0) continue;
    const bool several_differ = status == RegressStatus::differs && count > 1;
    out += separator + std::to_string(count) + " " + (several_differ ? "differ" : spoken(status));
    separator = ", ";
  }
  return out;
}

}  // namespace dsafuzz
