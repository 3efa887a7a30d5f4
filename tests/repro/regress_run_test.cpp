// What a run of a corpus looks like as a table, JSON, JUnit XML and SARIF; and that foreign text stays text in each.
#include "repro/regress_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "repro/escape.h"

namespace dsafuzz {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHostile = "<a href='x'>&\"]]>\n\x1b[31m\xff\xef\xbf\xbf";

RegressRow row_of(const std::string& name, RegressStatus status, std::optional<Signature> seen = {}) {
  RegressRow row;
  row.name = name;
  row.file = "cases/" + name + "/case.yaml";
  row.case_id = "0123456789abcdef";
  row.status = status;
  row.expected = "ok";
  (seen ? row.device : row.reason) = seen ? "vcuda" : "why " + name;
  row.seen = std::move(seen);
  return row;
}

Signature an_assert() {
  return {.verdict = Verdict::device_assert, .op = "aten::x", .file = "aten/X.cu", .kernel = "k", .condition = "i < n"};
}

// One row of each status, not in order.
RegressRun run_of_all() {
  RegressRun run{.program = "1.2.3", .device = "vcuda", .versions = {{"torch", "2.11.0"}}, .seconds = 1.25, .rows = {}};
  run.rows = {row_of("fine", RegressStatus::as_expected, Signature{}),
              row_of("loose", RegressStatus::no_expectation, an_assert()),
              row_of("left", RegressStatus::skipped),
              row_of("alien", RegressStatus::not_run),
              row_of("broken", RegressStatus::unreadable),
              row_of("sometimes", RegressStatus::flaky, an_assert()),
              row_of("wrong", RegressStatus::differs, an_assert())};
  run.rows[5].differed = 2;
  run.rows[6].differed = 5;
  run.rows[5].runs = run.rows[6].runs = 5;
  sort_worst_first(run);
  return run;
}

TEST(RegressRun, StatusesHaveWordsAndBack) {
  for (const RegressStatus status : kRegressStatuses) EXPECT_EQ(parse_regress_status(to_text(status)), status);
  EXPECT_FALSE(parse_regress_status("fine"));
}

TEST(RegressRun, TheTableSaysTheWorstFirstAndQuietLeavesOutWhatIsFine) {
  const RegressRun run = run_of_all();
  EXPECT_EQ(regress_table(run, false),
            "differs         wrong      expected ok, seen device_assert at aten::x: X.cu k `i < n` (5 of 5 runs)\n"
            "flaky           sometimes  expected ok, seen device_assert at aten::x: X.cu k `i < n` (2 of 5 runs)\n"
            "unreadable      broken     why broken\n"
            "not run         alien      why alien\n"
            "skipped         left       why left\n"
            "no expectation  loose      device_assert at aten::x: X.cu k `i < n`\n"
            "as expected     fine       ok\n");
  EXPECT_THAT(regress_table(run, true), Not(::testing::AnyOf(HasSubstr("fine"), HasSubstr("loose"))));
  EXPECT_THAT(regress_table(run, true), HasSubstr("left"));
  EXPECT_EQ(regress_summary(run),
            "7 cases on vcuda in 1.2 s: 1 differs, 1 flaky, 1 unreadable, 1 not run, 1 skipped, 1 no expectation, "
            "1 as expected");
}

TEST(RegressRun, RowsOfOneStatusAreSortedByName) {
  RegressRun run;
  for (const char* name : {"c", "a", "b"}) run.rows.push_back(row_of(name, RegressStatus::as_expected, Signature{}));
  sort_worst_first(run);
  EXPECT_THAT(regress_table(run, false), ::testing::MatchesRegex("as expected *a .*\n.* b .*\n.* c .*\n"));
}

TEST(RegressRun, HostileTextIsOneLineOfTheTable) {
  RegressRun run;
  run.rows = {row_of(kHostile, RegressStatus::skipped)};
  run.rows[0].reason = kHostile;
  const std::string table = regress_table(run, false);
  EXPECT_EQ(std::ranges::count(table, '\n'), 1);
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
}

TEST(RegressRun, JsonReadsBack) {
  RegressRun run = run_of_all();
  run.rows[0].error = "an error";
  const auto back = parse_regress_json(regress_json(run), "run.json");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->device, "vcuda");
  EXPECT_EQ(back->versions, run.versions);
  ASSERT_EQ(back->rows.size(), run.rows.size());
  for (const RegressRow& row : back->rows) {
    SCOPED_TRACE(row.name);
    const auto same = std::ranges::find(run.rows, row.name, &RegressRow::name);
    ASSERT_NE(same, run.rows.end());
    EXPECT_EQ(row.status, same->status);
    EXPECT_EQ(row.seen, same->seen);
    EXPECT_EQ(std::tie(row.file, row.case_id, row.device, row.expected, row.reason, row.error, row.differed, row.runs),
              std::tie(same->file, same->case_id, same->device, same->expected, same->reason, same->error,
                       same->differed, same->runs));
  }
  const auto json = nlohmann::json::parse(regress_json(run));
  EXPECT_EQ(json["summary"]["differs"], 1);
  EXPECT_EQ(json["cases"][0]["name"], "alien");  // by name, so that two files can be told apart by diff
}

TEST(RegressRun, JsonOfAnyOriginIsRefusedInWords) {
  const std::string good = regress_json(run_of_all());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string out = good;
    out.replace(out.find(from), from.size(), to);
    return out;
  };
  struct Row {
    const char* what;
    std::string text, says;
  };
  const Row rows[] = {
      {"empty", "", "not JSON"},
      {"cut", good.substr(0, good.size() / 2), "not JSON"},
      {"deep", std::string(200'000, '['), "not JSON"},
      {"a list", "[]", "not a run"},
      {"a number", "7", "not a run"},
      {"another format", with("dsafuzz-regress", "dsafuzz-finding"), "not a run"},
      {"another version", with("\"version\": 1", "\"version\": 2"), "version"},
      {"cases are none", R"({"format": "dsafuzz-regress", "version": 1, "cases": 3})", "no list"},
      {"a case is none", R"({"format": "dsafuzz-regress", "version": 1, "cases": [3]})", "without a name"},
      {"a name twice", with("\"broken\"", "\"alien\""), "twice"},
      {"unknown status", with("\"unreadable\",", "\"fine\","), "status"},
      {"unknown verdict", with("\"verdict\": \"ok\"", "\"verdict\": \"good\""), "verdict"},
      {"verdict of a number", with("\"verdict\": \"ok\"", "\"verdict\": 4"), "verdict"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const auto run = parse_regress_json(row.text, "run.json");
    ASSERT_FALSE(run);
    EXPECT_THAT(run.error().text(), HasSubstr("run.json"));
    EXPECT_THAT(run.error().text(), HasSubstr(row.says));
  }
}

TEST(RegressRun, JUnitCountsFailuresErrorsAndSkips) {
  const std::string xml = regress_junit(run_of_all());
  EXPECT_THAT(xml, HasSubstr("tests=\"7\" failures=\"2\" errors=\"2\" skipped=\"1\" time=\"1.250\""));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"why left\"/>"));
  EXPECT_THAT(xml, HasSubstr("<error message=\"why alien\" type=\"not_run\">"));
  EXPECT_THAT(xml, HasSubstr("seen device_assert at aten::x: X.cu k `i &lt; n` (2 of 5 runs)\" type=\"flaky\">"));
}

TEST(RegressRun, SarifHasARuleForEachVerdictAndResultsForDifferences) {
  const auto json = nlohmann::json::parse(regress_sarif(run_of_all()));
  EXPECT_EQ(json["version"], "2.1.0");
  const auto& run = json["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["rules"].size(), kVerdicts.size());
  ASSERT_EQ(run["results"].size(), 2u);
  const auto& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "device_assert");
  EXPECT_EQ(run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"], "device_assert");
  EXPECT_EQ(result["partialFingerprints"]["deviceAssert/v1"], an_assert().folder_name());
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "cases/wrong/case.yaml");
  EXPECT_EQ(run["invocations"][0]["executionSuccessful"], false);
  EXPECT_EQ(run["invocations"][0]["toolExecutionNotifications"].size(), 2u);

  RegressRun lost;
  lost.rows = {row_of("lost", RegressStatus::differs, Signature{})};
  lost.rows[0].expected = "device_assert " + an_assert().text();
  const auto other = nlohmann::json::parse(regress_sarif(lost));
  EXPECT_EQ(other["runs"][0]["results"][0]["ruleId"], "ok");
  EXPECT_EQ(other["runs"][0]["invocations"][0]["executionSuccessful"], true);
  lost.rows[0].expected = "device_assert of another bug";
  EXPECT_NE(nlohmann::json::parse(regress_sarif(lost))["runs"][0]["results"][0]["partialFingerprints"],
            other["runs"][0]["results"][0]["partialFingerprints"]);
}

TEST(RegressRun, EscapesOfXmlAndUris) {
  EXPECT_EQ(xml_escaped("a<b>&\"'\n\t\r\x01\xff\xef\xbf\xbe\xef\xbf\xbf\xc3\xa9"),
            "a&lt;b&gt;&amp;&quot;&#39;&#10;&#9;\\x0d\\x01\\xff\\ufffe\\uffff\xc3\xa9");
  EXPECT_EQ(uri_reference("a b/%c:d?#\xff.yaml"), "a%20b/%25c%3Ad%3F%23%FF.yaml");
  EXPECT_EQ(uri_reference("/tmp/x"), "file:///tmp/x");
}

}  // namespace
}  // namespace dsafuzz
