// What counts as a difference between two runs of a corpus.
#include "repro/regress_compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace dsafuzz {
namespace {

using ::testing::HasSubstr;

Signature signature(Verdict verdict, const std::string& condition = "") {
  return {.verdict = verdict, .op = "aten::x", .file = {}, .kernel = {}, .condition = condition};
}

RegressRow answered(const Signature& seen, const std::string& id = "1") {
  RegressRow row;
  row.name = "c";
  row.case_id = id;
  row.seen = seen;
  return row;
}

RegressRow unanswered(const std::string& reason = "because") {
  RegressRow row;
  row.name = "c";
  row.status = RegressStatus::skipped;
  row.reason = reason;
  return row;
}

TEST(RegressCompare, WhatCountsAsADifference) {
  const Signature fine = signature(Verdict::ok), one = signature(Verdict::device_assert, "i < n"),
                  other = signature(Verdict::device_assert, "j < n");
  struct Row {
    const char* what;
    std::optional<RegressRow> a, b;
    std::optional<RegressChange> change;
  };
  const Row rows[] = {
      {"the same assert", answered(one), answered(one), {}},
      {"lost", answered(one), answered(fine), RegressChange::assert_lost},
      {"refused on the host now", answered(one), answered(signature(Verdict::host_reject, "no")),
       RegressChange::assert_lost},
      {"new", answered(fine), answered(one), RegressChange::assert_new},
      {"new where it crashed", answered(signature(Verdict::crash)), answered(one), RegressChange::assert_new},
      {"silent now", answered(fine), answered(signature(Verdict::silent)), RegressChange::verdict_changed},
      {"another assert", answered(one), answered(other), RegressChange::signature_changed},
      {"a message names its device",
       answered(signature(Verdict::host_reject, "is on vcuda:#, not on vcuda:#")),
       answered(signature(Verdict::host_reject, "is on cuda:#, not on cuda:#")),
       {}},
      {"ok has no place", answered(signature(Verdict::ok, "a")), answered(signature(Verdict::ok, "b")), {}},
      {"another case of this name", answered(one, "1"), answered(one, "2"), RegressChange::case_changed},
      {"gone", answered(one), {}, RegressChange::only_in_a},
      {"added", {}, answered(one), RegressChange::only_in_b},
      {"skipped now", answered(one), unanswered(), RegressChange::only_in_a},
      {"no longer skipped", unanswered(), answered(one), RegressChange::only_in_b},
      {"skipped in both", unanswered(), unanswered("else"), {}},
      {"skipped and gone", unanswered(), {}, RegressChange::only_in_a},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    RegressRun a, b;
    if (row.a) a.rows.push_back(*row.a);
    if (row.b) b.rows.push_back(*row.b);
    const RegressComparison result = compare_runs(a, "a.json", b, "b.json");
    EXPECT_EQ(result.compared, row.a && row.a->seen && row.b && row.b->seen ? 1u : 0u);
    ASSERT_EQ(result.differences.size(), row.change ? 1u : 0u);
    if (row.change) {
      EXPECT_EQ(result.differences[0].change, *row.change);
    }
  }
}

TEST(RegressCompare, AGpuAloneDoesNotSeeWhatTheVirtualDeviceWatches) {
  struct Row {
    const char *a_device, *b_device;
    Verdict a, b;
    bool unwatched;
  };
  const Row rows[] = {
      {"vcuda", "cuda:0", Verdict::memory_fault, Verdict::ok, true},
      {"vcuda", "cuda:0", Verdict::memory_fault, Verdict::wrong_result, true},
      {"cuda:1", "vcuda:1", Verdict::memory_fault, Verdict::memory_fault, true},  // another text
      {"cuda:0", "vcuda", Verdict::ok, Verdict::memory_fault, true},
      {"vcuda", "cuda:0", Verdict::memory_fault, Verdict::device_assert, false},
      {"vcuda", "cuda:0", Verdict::memory_fault, Verdict::crash, false},
      {"vcuda", "cuda:0", Verdict::ok, Verdict::memory_fault, false},  // the GPU knows more
      {"vcuda", "cuda:0", Verdict::silent, Verdict::ok, false},
      {"vcuda", "vcuda:1", Verdict::memory_fault, Verdict::ok, false},
      {"vcuda", "cpu", Verdict::memory_fault, Verdict::ok, false},
      {"cuda:0", "cuda:1", Verdict::memory_fault, Verdict::ok, false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.a_device) + " " + std::string(to_text(row.a)) + ", " + row.b_device + " " +
                 std::string(to_text(row.b)));
    RegressRun a, b;
    a.rows = {answered(signature(row.a, "seen by A"))};
    b.rows = {answered(signature(row.b, "seen by B"))};
    a.rows[0].device = row.a_device;
    b.rows[0].device = row.b_device;
    const RegressComparison result = compare_runs(a, "a", b, "b");
    EXPECT_EQ(result.unwatched.size(), row.unwatched ? 1u : 0u);
    EXPECT_EQ(result.differences.size(), row.unwatched ? 0u : 1u);
    if (!row.unwatched) continue;
    EXPECT_THAT(comparison_text(result), HasSubstr("without compute-sanitizer\n  c\n    A: "));
    EXPECT_THAT(comparison_text(result), HasSubstr("no difference"));
    EXPECT_EQ(nlohmann::json::parse(comparison_json(result))["unwatched"].size(), 1u);
  }
}

TEST(RegressCompare, AsTextAndJson) {
  RegressRun a{.program = "1", .device = "vcuda", .versions = {{"torch", "2.11.0"}}, .seconds = 1, .rows = {}};
  RegressRun b = a;
  b.versions["torch"] = "2.12.0";
  a.rows = {answered(signature(Verdict::device_assert, "i < n"))};
  b.rows = {answered(signature(Verdict::ok))};
  b.rows.push_back(answered(signature(Verdict::ok)));
  b.rows[1].name = "hostile \x1b\n<name>";
  const RegressComparison result = compare_runs(a, "a.json", b, "b.json");
  EXPECT_EQ(comparison_text(result),
            "A: a.json: vcuda, torch 2.11.0, 1 case\n"
            "B: b.json: vcuda, torch 2.12.0, 2 cases\n"
            "\n"
            "Asserts lost\n"
            "  c\n"
            "    A: device_assert at aten::x: `i < n`\n"
            "    B: ok\n"
            "\n"
            "Only in B\n"
            "  hostile \\x1b <name>\n"
            "    A: no such case\n"
            "    B: ok\n"
            "\n"
            "1 case compared: 1 assert lost, 1 only in b\n");
  const auto json = nlohmann::json::parse(comparison_json(result));
  EXPECT_EQ(json["format"], "dsafuzz-regress-comparison");
  EXPECT_EQ(json["summary"]["assert_lost"], 1);
  EXPECT_EQ(json["summary"]["assert_new"], 0);
  EXPECT_EQ(json["differences"][1]["case"], "hostile \\x1b\n<name>");
  EXPECT_THAT(comparison_text(compare_runs(a, "a", a, "a")), HasSubstr("1 case compared: no difference\n"));
}

TEST(RegressCompare, AFlakyAnswerSaysHowOften) {
  RegressRun a, b;
  a.rows = {answered(signature(Verdict::ok))};
  b.rows = {answered(signature(Verdict::hang))};
  b.rows[0].status = RegressStatus::flaky;
  b.rows[0].differed = 2;
  b.rows[0].runs = 5;
  EXPECT_THAT(compare_runs(a, "a", b, "b").differences.at(0).b, HasSubstr("(2 of 5 runs)"));
}

}  // namespace
}  // namespace dsafuzz
