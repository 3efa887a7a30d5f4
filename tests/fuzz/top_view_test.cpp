// What `dsafuzz top` shows, and that it reads a run from a database as the campaign writes it.
#include "fuzz/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuzz/campaign_database.h"
#include "fuzz/run_record.h"
#include "tests/fuzz/temporary_folder.h"

namespace dsafuzz {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ResultOf;
using ::testing::SizeIs;

RunOverview example() {
  RunOverview run;
  run.id = 7;
  run.kind = "fuzz";
  run.started = "2026-12-02T13:00:00Z";
  run.seed = "18446744073709551615";
  run.fresh = 2;
  run.known = 5;
  for (int i = 1; i <= 3; ++i) {
    run.samples.push_back({.at = static_cast<double>(i),
                           .facts = {.doing = "fuzzing",
                                     .executions = static_cast<std::uint64_t>(1000 * i),
                                     .per_second = 1000.0 * i,
                                     .features = static_cast<std::uint64_t>(10 * i),
                                     .candidates = 3,
                                     .engines = 4,
                                     .seconds_left = 65.0}});
  }
  run.newest.push_back({"new", 2, "device_assert", "aten::gather", "Loss.cu kernel `t >= 0`", "gather", "vcuda"});
  run.devices.push_back({"vcuda", 3000, 2, 3.0});
  run.scenarios.push_back({"gather", 3000, 30, 0, 0, 3.0});
  return run;
}

std::string all(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(std::ranges::count_if(line, [](unsigned char c) { return (c & 0xc0) != 0x80; }));
}

TEST(TopView, ShowsWhatTheRunDoes) {
  const std::string text = all(top_lines("out", example(), {.elapsed = 75, .alive = true}, {}));
  for (const char* words : {"fuzz run 7  fuzzing", "1:15, 1:05 left", "3,000  3.0k/s", "2  new, 5 known, 0 gone",
                            "3 to examine", "4  0 restarts", "aten::gather", "vcuda"}) {
    EXPECT_THAT(text, HasSubstr(words));
  }
}

TEST(TopView, StateSaysHowTheRunStands) {
  struct Row {
    const char* name;
    void (*change)(RunOverview&);
    bool alive;
    const char* state;
  };
  const Row rows[] = {
      {"searching", [](RunOverview&) {}, true, "fuzzing"},
      {"examining", [](RunOverview& r) { r.samples.back().facts.doing = "examining"; }, true, "examining"},
      {"not a sample yet", [](RunOverview& r) { r.samples.clear(); }, true, "starting"},
      {"a nightly run replays", [](RunOverview& r) { r.step = "regress"; }, true, "regress"},
      {"a nightly run searches", [](RunOverview& r) { r.step = "fuzz"; }, true, "fuzzing"},
      {"its process is gone", [](RunOverview&) {}, false, "cut off"},
      {"over", [](RunOverview& r) { r.ended = "2026-12-02T14:00:00Z"; }, false, "ended"},
      {"over, and another process has its number", [](RunOverview& r) { r.ended = "x"; }, true, "ended"},
      {"Ctrl-C",
       [](RunOverview& r) {
         r.ended = "x";
         r.interrupted = true;
       },
       false, "stopped before its end"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    RunOverview run = example();
    row.change(run);
    EXPECT_EQ(top_state(run, {.alive = row.alive}), row.state);
  }
}

TEST(TopView, NoLineIsLongerThanTheWindow) {
  RunOverview run = example();
  for (int i = 0; i < 20; ++i) run.scenarios.push_back({std::string(300, 'x'), ~0ull, ~0ull, 1, 1, 1e9});
  for (const int width : {1, 20, 80, 200}) {
    for (const bool blocks : {false, true}) {
      SCOPED_TRACE(width);
      const auto lines = top_lines(std::string(300, 'o'), run, {.alive = true}, {.width = width, .blocks = blocks});
      for (const std::string& line : lines) EXPECT_LE(columns(line), static_cast<std::size_t>(width)) << line;
    }
  }
  EXPECT_THAT(top_lines("out", run, {}, {.height = 5}), SizeIs(5));
}

TEST(TopView, ForeignTextCannotDriveTheTerminal) {
  RunOverview run = example();
  const std::string hostile = "\033]0;title\a\033[2J\r\n\xe2\x80\xae\xff";
  run.newest[0] = {hostile, 1, hostile, hostile, hostile, hostile, hostile};
  run.samples.back().facts.doing = hostile;
  run.seed = run.started = run.devices[0].name = run.scenarios[0].name = hostile;
  for (const std::string& line : top_lines(hostile, run, {.alive = true}, {.width = 300})) {
    EXPECT_TRUE(std::ranges::all_of(line, [](unsigned char c) { return c >= 0x20 && c < 0x7f; })) << line;
  }
}

TEST(TopView, ColourOnlyWhereItIsAskedFor) {
  EXPECT_THAT(top_lines("out", example(), {.alive = true}, {}), Each(Not(HasSubstr("\033"))));
  const auto lines = top_lines("out", example(), {.alive = true}, {.colour = true});
  EXPECT_THAT(lines, Contains(HasSubstr("\033[1;31m2\033[0m")));
  for (const std::string& line : lines)
    EXPECT_TRUE(line.rfind("\033[") == line.npos || line.contains("\033[0m")) << line;
}

TEST(Sparkline, EachValueByItsHeight) {
  struct Row {
    const char* name;
    std::vector<double> values;
    int width;
    const char* ascii;
  };
  const Row rows[] = {
      {"none", {}, 10, ""},
      {"no room", {1, 2}, 0, ""},
      {"all zero", {0, 0}, 10, "__"},
      {"up", {0, 1, 2, 3, 4, 5, 6, 7}, 10, "_.:-=+*#"},
      {"the last ones", {9, 9, 0, 7}, 2, "_#"},
      {"not a number", {std::nan(""), 1}, 10, "_#"},
      {"negative", {-5, 5}, 10, "_#"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(sparkline(row.values, row.width, false), row.ascii);
  }
  EXPECT_EQ(sparkline({0, 7}, 10, true), "▁█");
}

TEST(CampaignReader, ReadsTheLastRunWhileItIsWritten) {
  const TemporaryFolder folder;
  EXPECT_EQ(CampaignReader::open(folder.path()).error().kind, Problem::Kind::input);
  auto database = CampaignDatabase::open(folder.path());
  ASSERT_TRUE(database);
  auto reader = CampaignReader::open(folder.path());
  ASSERT_TRUE(reader);
  EXPECT_EQ(*reader->last_run(), std::nullopt);
  const auto first = database->begin({.kind = "fuzz", .seed = 1});
  const auto second = database->begin({.kind = "nightly", .seed = 18446744073709551615u});
  ASSERT_TRUE(first && second);
  const Signature signature{.verdict = Verdict::device_assert, .op = "aten::gather", .condition = "t >= 0"};
  ASSERT_TRUE(database->add(*second, {.signature = signature, .at = 3, .scenario = "gather", .device = "vcuda"}));
  ASSERT_TRUE(database->add_problem(*second, 1, "an engine died"));
  for (int at = 0; at < 100; ++at) {
    ASSERT_TRUE(database->sql().run("INSERT INTO samples VALUES (?, ?, 'fuzzing', ?, 5.0, 6, 7, 8, 9, 10, NULL)",
                                    {*second, static_cast<double>(at), std::int64_t{at}}));
  }
  ASSERT_TRUE(database->sql().run("INSERT INTO run_steps (run, name, at) VALUES (?, 'fuzz', 1.0)", {*second}));
  const auto run = reader->last_run();
  ASSERT_TRUE(run && *run);
  EXPECT_EQ((*run)->id, *second);
  EXPECT_EQ((*run)->seed, "18446744073709551615");
  EXPECT_EQ((*run)->ended, std::nullopt);
  EXPECT_EQ((*run)->fresh, 1u);
  EXPECT_EQ((*run)->problems, 1u);
  EXPECT_EQ((*run)->step, "fuzz");
  ASSERT_THAT((*run)->samples, SizeIs(RunOverview::kSamples));
  EXPECT_EQ((*run)->samples.back().at, 99);
  EXPECT_EQ((*run)->samples.back().facts.candidates, 8u);
  EXPECT_EQ((*run)->samples.back().facts.seconds_left, std::nullopt);
  ASSERT_THAT((*run)->newest, SizeIs(1));
  EXPECT_EQ((*run)->newest[0].op, "aten::gather");
}

TEST(CampaignReader, RefusesANewerSchema) {
  const TemporaryFolder folder;
  ASSERT_TRUE(CampaignDatabase::open(folder.path())->sql().run_script("PRAGMA user_version = 99"));
  const auto reader = CampaignReader::open(folder.path());
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, Problem::Kind::environment);
  EXPECT_THAT(reader.error().what,
              AllOf(HasSubstr("99"), HasSubstr(std::to_string(CampaignDatabase::schema_version()))));
}

}  // namespace
}  // namespace dsafuzz
