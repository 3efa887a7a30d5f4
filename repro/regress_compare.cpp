#include "repro/regress_compare.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "repro/escape.h"

namespace dsafuzz {
namespace {

const char* title(RegressChange change) {
  switch (change) {
    case RegressChange::assert_lost: return "Asserts lost";
    case RegressChange::assert_new: return "Asserts new";
    case RegressChange::verdict_changed: return "Verdicts changed";
    case RegressChange::signature_changed: return "The same verdict at another place";
    case RegressChange::case_changed: return "Not the same case in both";
    case RegressChange::only_in_a: return "Only in A";
    case RegressChange::only_in_b: return "Only in B";
  }
  std::unreachable();
}

std::string one_line(std::string_view text) {
  std::string out = as_utf8(text);
  std::ranges::replace(out, '\n', ' ');
  return out;
}

std::string name_of_run(const RegressRun& run, const std::string& file) {
  std::string out = file + ": " + run.device;
  for (const auto& [name, version] : run.versions) out += ", " + name + " " + version;
  return out + ", " + std::to_string(run.rows.size()) + (run.rows.size() == 1 ? " case" : " cases");
}

std::string answer(const RegressRow* row) {
  if (!row) return "no such case";
  std::string flaky;
  if (row->status == RegressStatus::flaky) {
    flaky = " (" + std::to_string(row->differed) + " of " + std::to_string(row->runs) + " runs)";
  }
  if (row->seen) return seen_text(*row->seen) + flaky;
  return std::string(to_text(row->status)) + ": " + row->reason;
}

// Messages name the device that they are about: vcuda stands for cuda.
Signature device_neutral(Signature signature) {
  std::string& text = signature.condition;
  for (std::size_t at = 0; (at = text.find("vcuda", at)) != std::string::npos;) text.erase(at, 1);
  return signature;
}

// Nothing: the runs agree, or neither has an answer.
std::optional<RegressChange> change_between(const RegressRow* a, const RegressRow* b) {
  const bool in_a = a && a->seen, in_b = b && b->seen;
  if (!in_a && !in_b)
    return a && b ? std::nullopt : std::optional(a ? RegressChange::only_in_a : RegressChange::only_in_b);
  if (!in_b) return RegressChange::only_in_a;
  if (!in_a) return RegressChange::only_in_b;
  if (a->case_id != b->case_id) return RegressChange::case_changed;
  const Signature &before = *a->seen, &now = *b->seen;
  if (before.verdict != now.verdict) {
    if (before.verdict == Verdict::device_assert) return RegressChange::assert_lost;
    if (now.verdict == Verdict::device_assert) return RegressChange::assert_new;
    return RegressChange::verdict_changed;
  }
  // Where nothing is wrong there is no place to compare.
  if (before.verdict == Verdict::ok || device_neutral(before) == device_neutral(now)) return std::nullopt;
  return RegressChange::signature_changed;
}

// Requires: both have an answer.
bool is_unwatched(const RegressRow& a, const RegressRow& b) {
  const RegressRow &watched = a.device.starts_with("vcuda") ? a : b, &gpu = a.device.starts_with("vcuda") ? b : a;
  if (!watched.device.starts_with("vcuda") || !gpu.device.starts_with("cuda")) return false;
  if (watched.seen->verdict != Verdict::memory_fault) return false;
  switch (gpu.seen->verdict) {
    case Verdict::ok:
    case Verdict::silent:
    case Verdict::wrong_result:
    case Verdict::memory_fault: return true;
    case Verdict::device_assert:
    case Verdict::host_reject:
    case Verdict::crash:
    case Verdict::hang:
    case Verdict::out_of_memory:
    case Verdict::setup_failed: return false;
  }
  std::unreachable();
}

}  // namespace

std::string_view to_text(RegressChange change) {
  switch (change) {
    case RegressChange::assert_lost: return "assert_lost";
    case RegressChange::assert_new: return "assert_new";
    case RegressChange::verdict_changed: return "verdict_changed";
    case RegressChange::signature_changed: return "signature_changed";
    case RegressChange::case_changed: return "case_changed";
    case RegressChange::only_in_a: return "only_in_a";
    case RegressChange::only_in_b: return "only_in_b";
  }
  std::unreachable();
}

RegressComparison compare_runs(const RegressRun& a, const std::string& a_file, const RegressRun& b,
                               const std::string& b_file) {
  RegressComparison out{
      .a = name_of_run(a, a_file), .b = name_of_run(b, b_file), .compared = 0, .differences = {}, .unwatched = {}};
  std::map<std::string, std::pair<const RegressRow*, const RegressRow*>> cases;
  for (const RegressRow& row : a.rows) cases[row.name].first = &row;
  for (const RegressRow& row : b.rows) cases[row.name].second = &row;
  for (const auto& [name, rows] : cases) {
    const auto [in_a, in_b] = rows;
    if (in_a && in_b && in_a->seen && in_b->seen) ++out.compared;
    const auto change = change_between(in_a, in_b);
    if (!change) continue;
    const bool same_case = *change == RegressChange::verdict_changed || *change == RegressChange::signature_changed;
    auto& list = same_case && is_unwatched(*in_a, *in_b) ? out.unwatched : out.differences;
    list.push_back({*change, name, answer(in_a), answer(in_b)});
  }
  std::ranges::sort(out.differences, {}, [](const RegressDifference& d) { return std::tie(d.change, d.name); });
  return out;
}

std::string comparison_text(const RegressComparison& comparison) {
  std::string out = "A: " + one_line(comparison.a) + "\nB: " + one_line(comparison.b) + "\n";
  std::optional<RegressChange> shown;
  for (const RegressDifference& d : comparison.differences) {
    if (shown != d.change) out += std::string("\n") + title(d.change) + "\n";
    shown = d.change;
    out += "  " + one_line(d.name) + "\n    A: " + one_line(d.a) + "\n    B: " + one_line(d.b) + "\n";
  }
  if (!comparison.unwatched.empty()) out += "\nBad accesses that a GPU does not report without compute-sanitizer\n";
  for (const RegressDifference& d : comparison.unwatched) {
    out += "  " + one_line(d.name) + "\n    A: " + one_line(d.a) + "\n    B: " + one_line(d.b) + "\n";
  }
  out += "\n" + std::to_string(comparison.compared) + (comparison.compared == 1 ? " case" : " cases") + " compared: ";
  if (comparison.differences.empty()) return out + "no difference\n";
  const char* separator = "";
  for (const RegressChange change : kRegressChanges) {
    const auto count = std::ranges::count(comparison.differences, change, &RegressDifference::change);
    if (count == 0) continue;
    std::string word(to_text(change));
    std::ranges::replace(word, '_', ' ');
    out += separator + std::to_string(count) + " " + word;
    separator = ", ";
  }
  return out + "\n";
}

std::string comparison_json(const RegressComparison& comparison) {
  using Json = nlohmann::ordered_json;
  Json summary = Json::object(), differences = Json::array(), unwatched = Json::array();
  for (const RegressChange change : kRegressChanges) {
    summary[std::string(to_text(change))] =
        std::ranges::count(comparison.differences, change, &RegressDifference::change);
  }
  for (const RegressDifference& d : comparison.differences) {
    differences.push_back(
        {{"change", to_text(d.change)}, {"case", as_utf8(d.name)}, {"a", as_utf8(d.a)}, {"b", as_utf8(d.b)}});
  }
  for (const RegressDifference& d : comparison.unwatched) {
    unwatched.push_back({{"case", as_utf8(d.name)}, {"a", as_utf8(d.a)}, {"b", as_utf8(d.b)}});
  }
  const Json out{{"format", "dsafuzz-regress-comparison"},
                 {"version", 1},
                 {"a", as_utf8(comparison.a)},
                 {"b", as_utf8(comparison.b)},
                 {"compared", comparison.compared},
                 {"summary", summary},
                 {"differences", differences},
                 {"unwatched", unwatched}};
  return out.dump(2) + "\n";
}

}  // namespace dsafuzz
