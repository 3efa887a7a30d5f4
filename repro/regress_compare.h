// Two runs of one corpus side by side: two versions of PyTorch, or two devices. Cases are matched by name.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "repro/regress_run.h"

namespace dsafuzz {

// Worst first.
enum class RegressChange : std::uint8_t {
  assert_lost,        // device_assert before, something else now
  assert_new,         // device_assert now, something else before
  verdict_changed,    // neither
  signature_changed,  // the same verdict at another place
  case_changed,       // not the same case, so its answers cannot be compared
  only_in_a,          // the other run has no such case, or no answer for it
  only_in_b,
};
inline constexpr std::array kRegressChanges{RegressChange::assert_lost,     RegressChange::assert_new,
                                            RegressChange::verdict_changed, RegressChange::signature_changed,
                                            RegressChange::case_changed,    RegressChange::only_in_a,
                                            RegressChange::only_in_b};
std::string_view to_text(RegressChange change);  // "assert_lost"

struct RegressDifference {
  RegressChange change = RegressChange::assert_lost;
  std::string name;  // of the case
  std::string a, b;  // what each run says of it: what was seen, why there is no answer, or "no such case"
};

struct RegressComparison {
  std::string a, b;                            // the runs: "old.json: vcuda, torch 2.11.0, 72 cases"
  std::size_t compared = 0;                    // cases with an answer in both
  std::vector<RegressDifference> differences;  // by change, then by name
  // No differences of the program or the devices: one run was watched by the virtual device, which sees each bad access
  // as compute-sanitizer does, the other was on a GPU, which alone notices few of them, and names no kernel. By name.
  std::vector<RegressDifference> unwatched;
};

// `a_file` and `b_file` name the runs. A case that neither run has an answer for is no difference.
RegressComparison compare_runs(const RegressRun& a, const std::string& a_file, const RegressRun& b,
                               const std::string& b_file);

std::string comparison_text(const RegressComparison& comparison);
// Version 1 of the format "dsafuzz-regress-comparison": {a, b, compared, summary: {CHANGE: count},
// differences: [{change, case, a, b}], unwatched: [{case, a, b}]}.
std::string comparison_json(const RegressComparison& comparison);

}  // namespace dsafuzz
