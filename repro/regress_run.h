// What a run of a regression corpus gave: one row a case, with what it was expected to show and what it showed. Written
// as a table for people, as JSON for a later comparison, as JUnit XML and SARIF for CI. Pure: runs come in, text goes
// out; whatever the rows hold, it stays text in each format.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repro/finding.h"
#include "repro/result.h"

namespace dsafuzz {

// Worst first: rows are shown in this order.
enum class RegressStatus : std::uint8_t {
  differs,         // every run showed something else than expected
  flaky,           // some did
  unreadable,      // the case or its expectation cannot be read
  not_run,         // the device cannot run it here: no GPU, no such operator
  skipped,         // its expectation says so, with a reason
  no_expectation,  // run and noted, but nothing says what it should show
  as_expected,
};
inline constexpr std::array kRegressStatuses{
    RegressStatus::differs, RegressStatus::flaky,          RegressStatus::unreadable, RegressStatus::not_run,
    RegressStatus::skipped, RegressStatus::no_expectation, RegressStatus::as_expected};
std::string_view to_text(RegressStatus status);  // "differs", "not_run"
std::optional<RegressStatus> parse_regress_status(std::string_view text);

struct RegressRow {
  std::string name;     // of the case: its path below the folder that was given
  std::string file;     // its path from where the program ran
  std::string case_id;  // empty where the case was not read
  RegressStatus status = RegressStatus::as_expected;
  std::string device;             // where it ran: "vcuda"; empty where it did not
  std::string expected;           // "device_assert Loss.cu kernel `condition`"; empty: nothing
  std::optional<Signature> seen;  // by its first run that differed, or by its only one
  int differed = 0, runs = 0;     // in `differed` of `runs` fresh processes it was not as expected
  std::string reason;             // why skipped, not run or unreadable
  std::string error;              // what the program was told, its first line
  std::vector<std::string> evidence;
  double seconds = 0;
};

struct RegressRun {
  std::string program;                          // "0.1.0": the version of dsafuzz
  std::string device;                           // that was asked for
  std::map<std::string, std::string> versions;  // "torch": "2.11.0", as the runs said
  double seconds = 0;
  std::vector<RegressRow> rows;

  std::size_t count(RegressStatus status) const;
};

// By status, then by name.
void sort_worst_first(RegressRun& run);

// "ok", or "device_assert at aten::cross_entropy_loss: Loss.cu kernel `condition`".
std::string seen_text(const Signature& seen);
// What is to say of a row: "expected ok, seen ... (5 of 5)", or its reason.
std::string row_text(const RegressRow& row);

// The table, worst first, a row a line; `quiet`: without the rows that are as they should be. Control characters of
// foreign text are escaped. Requires: sorted.
std::string regress_table(const RegressRun& run, bool quiet);
// "72 cases on vcuda in 1.6 s: 1 differs, 70 as expected, 1 skipped"
std::string regress_summary(const RegressRun& run);

// Version 1 of the format "dsafuzz-regress"; regress_json.cpp describes it.
std::string regress_json(const RegressRun& run);
// The inverse, as far as a comparison needs it: everything but `program` and each row's `evidence`. `file` is named in
// problems. The text may come from anywhere. Problem: no JSON, another format or version, a row without a name or with
// an unknown word, one name twice.
Result<RegressRun> parse_regress_json(std::string_view text, const std::string& file);

std::string regress_junit(const RegressRun& run);
// SARIF 2.1.0: a result for each row that differs or is flaky; rows that could not be judged are notifications.
std::string regress_sarif(const RegressRun& run);

}  // namespace dsafuzz
