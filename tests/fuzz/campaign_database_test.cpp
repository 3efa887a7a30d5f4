// The campaign's database: versions, migration, merging, and a run that is recorded while the database is locked or
// full.
#include "fuzz/campaign_database.h"

#include <gtest/gtest.h>

#include <fstream>

#include "fuzz/campaign_reader.h"
#include "fuzz/campaign_schema.h"
#include "fuzz/run_record.h"
#include "temporary_folder.h"

namespace dsafuzz {
namespace {

const Signature kLabel{Verdict::device_assert, "aten::cross_entropy_loss", "aten/src/ATen/native/cuda/Loss.cu",
                       "kernel", "t >= 0 && t < n_classes"};
const Signature kIndex{Verdict::device_assert, "aten::index_select", "aten/src/ATen/native/cuda/Indexing.cu", "kernel",
                       "srcIndex < srcSelectDimSize"};

struct CampaignDatabaseTest : testing::Test {
  TemporaryFolder folder;

  CampaignDatabase open(const std::string& name = "out") {
    const std::string out = folder.path() + "/" + name;
    std::filesystem::create_directories(out);
    auto database = CampaignDatabase::open(out);
    EXPECT_TRUE(database) << database.error().text();
    return std::move(*database);
  }
  static std::int64_t number(CampaignDatabase& database, const std::string& query) {
    const auto rows = database.sql().query(query);
    EXPECT_TRUE(rows) << rows.error().text();
    return rows && !rows->empty() ? integer_of((*rows)[0][0]) : -1;
  }
};

TEST_F(CampaignDatabaseTest, AnOlderSchemaIsBroughtToOursWithItsRows) {
  std::filesystem::create_directories(folder.path() + "/out");
  {
    auto old = Sqlite::open(CampaignDatabase::path_in(folder.path() + "/out"), Sqlite::Access::write);
    ASSERT_TRUE(old);
    ASSERT_TRUE(old->run_script(std::string(kCampaignMigrations[0])));
    ASSERT_TRUE(old->run_script("PRAGMA user_version = 1"));
    ASSERT_TRUE(
        old->run("INSERT INTO runs (uuid, kind, started, program, process, seed, jobs, seconds, executions_asked) "
                 "VALUES ('a', 'fuzz', '2026-01-01T00:00:00Z', '0.0.1', 7, '18446744073709551615', 1, 2.5, 0)"));
  }
  CampaignDatabase database = open();
  EXPECT_EQ(number(database, "PRAGMA user_version"), CampaignDatabase::schema_version());
  EXPECT_EQ(number(database, "SELECT count(*) FROM runs WHERE seed = '18446744073709551615' AND seconds = 2.5"), 1);
  EXPECT_EQ(number(database, "SELECT count(*) FROM run_steps"), 0);
}

TEST_F(CampaignDatabaseTest, ANewerSchemaIsLeftAlone) {
  {
    CampaignDatabase database = open();
    ASSERT_TRUE(database.sql().run_script("PRAGMA user_version = 77"));
  }
  const auto again = CampaignDatabase::open(folder.path() + "/out");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().exit_code(), 3);
  EXPECT_NE(again.error().text().find("its schema is 77, this program knows 2"), std::string::npos)
      << again.error().text();
}

TEST_F(CampaignDatabaseTest, AFindingIsInARunOnce) {
  CampaignDatabase database = open();
  const auto run = database.begin({.kind = "fuzz"});
  ASSERT_TRUE(run);
  const std::string hostile = "it's; DROP TABLE runs; -- \x01\xff";
  for (const FindingState state : {FindingState::new_one, FindingState::known}) {
    ASSERT_TRUE(database.add(*run, {.signature = kLabel, .state = state, .scenario = hostile, .device = "vcuda"}));
  }
  EXPECT_EQ(number(database, "SELECT count(*) FROM run_findings WHERE state = 'known'"), 1);
  EXPECT_EQ(number(database, "SELECT count(*) FROM signatures"), 1);
  const auto scenario = database.sql().query("SELECT scenario FROM run_findings");
  ASSERT_TRUE(scenario);
  EXPECT_EQ(text_of((*scenario)[0][0]), hostile);
}

TEST_F(CampaignDatabaseTest, MergingTakesEveryRunOnce) {
  CampaignDatabase ours = open("ours");
  const auto run = ours.begin({.kind = "fuzz"});
  ASSERT_TRUE(ours.add(*run, {.signature = kIndex}));
  {
    CampaignDatabase theirs = open("theirs");
    for (int i = 0; i < 2; ++i) {
      const auto other = theirs.begin({.kind = "fuzz", .seed = 5});
      ASSERT_TRUE(theirs.add(*other, {.signature = kLabel, .scenario = "classic"}));
      ASSERT_TRUE(theirs.add(*other, {.signature = kIndex}));
      ASSERT_TRUE(theirs.add_versions(*other, {{"torch", "2.11.0"}}));
      ASSERT_TRUE(
          theirs.sql().run("INSERT INTO parity VALUES (?, 'U01', 'op', 's', 'c', 'agrees', NULL, 0)", {*other}));
      ASSERT_TRUE(theirs.sql().run("INSERT INTO parity_cells VALUES (?, 'U01', 'cpu', 'ok', '')", {*other}));
    }
  }
  const auto taken = ours.take_from(folder.path() + "/theirs");
  ASSERT_TRUE(taken) << taken.error().text();
  EXPECT_EQ(*taken, 2);
  EXPECT_EQ(number(ours, "SELECT count(*) FROM runs"), 3);
  EXPECT_EQ(number(ours, "SELECT count(*) FROM run_findings"), 5);
  EXPECT_EQ(number(ours, "SELECT count(*) FROM signatures"), 2);
  EXPECT_EQ(number(ours,
                   "SELECT count(*) FROM run_findings f JOIN signatures s ON s.id = f.signature JOIN runs r ON r.id "
                   "= f.run WHERE r.seed = '5' AND s.op = 'aten::cross_entropy_loss' AND f.scenario = 'classic'"),
            2);
  EXPECT_EQ(number(ours, "SELECT count(*) FROM parity_cells c JOIN runs r ON r.id = c.run WHERE r.seed = '5'"), 2);
  EXPECT_EQ(ours.take_from(folder.path() + "/theirs").value_or(-1), 0);
}

TEST_F(CampaignDatabaseTest, WhatCannotBeWrittenWaits) {
  const auto store = Store::open(folder.path() + "/out", Store::Access::exclusive);
  ASSERT_TRUE(store);
  auto record = RunRecord::begin(*store, {.kind = "fuzz"});
  ASSERT_TRUE(record) << record.error().text();
  auto other = Sqlite::open(CampaignDatabase::path_in(store->folder()), Sqlite::Access::write);
  ASSERT_TRUE(other && other->run("BEGIN IMMEDIATE"));
  record->add({.signature = kLabel});
  record->add({.signature = kIndex});
  record->add_problem("an engine died");
  const auto locked = record->flush(std::chrono::milliseconds(50));
  ASSERT_FALSE(locked);
  EXPECT_NE(locked.error().text().find("locked"), std::string::npos) << locked.error().text();
  ASSERT_TRUE(other->run("ROLLBACK"));
  ASSERT_TRUE(record->end(false, 1));
  EXPECT_EQ(number(record->database(), "SELECT count(*) FROM run_findings"), 2);
  EXPECT_EQ(number(record->database(), "SELECT count(*) FROM run_problems"), 1);
  EXPECT_EQ(number(record->database(), "SELECT count(*) FROM runs WHERE ended IS NOT NULL AND exit_code = 1"), 1);
}

TEST_F(CampaignDatabaseTest, AFullDiskLosesNothingThatWasWritten) {
  const auto store = Store::open(folder.path() + "/out", Store::Access::exclusive);
  auto record = RunRecord::begin(*store, {.kind = "fuzz"});
  ASSERT_TRUE(record);
  record->add({.signature = kLabel});
  ASSERT_TRUE(record->flush());
  // No page more than there are: what SQLite says on a full disk.
  const std::int64_t pages = number(record->database(), "PRAGMA page_count");
  ASSERT_TRUE(record->database().sql().run_script("PRAGMA max_page_count = " + std::to_string(pages)));
  record->add_problem(std::string(1 << 20, 'x'));
  record->add({.signature = kIndex});
  const auto full = record->flush(std::chrono::milliseconds(10));
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().text().find("no space is left"), std::string::npos) << full.error().text();
  EXPECT_EQ(number(record->database(), "SELECT count(*) FROM run_findings"), 1);
  ASSERT_TRUE(record->database().sql().run_script("PRAGMA max_page_count = 1000000"));
  ASSERT_TRUE(record->end(false, 1)) << "space again: what waited is written";
  EXPECT_EQ(number(record->database(), "SELECT count(*) FROM run_findings"), 2);
}

TEST_F(CampaignDatabaseTest, TotalsAreAddedUpWhileCampaignsOfARunGoOn) {
  const auto store = Store::open(folder.path() + "/out", Store::Access::exclusive);
  auto record = RunRecord::begin(*store, {.kind = "nightly"});
  ASSERT_TRUE(record) << record.error().text();
  const RunTotals early{{{"vcuda", 10, 1, 0.5}}, {{"labels", 10, 7, 1, 2, 0.5}}};
  const RunTotals late{{{"vcuda", 25, 3, 2.0}}, {{"labels", 25, 6, 1, 5, 2.0}}};
  for (int campaign = 0; campaign < 2; ++campaign) {
    record->add_totals(early);
    record->add_totals(since(early, late));
  }
  ASSERT_TRUE(record->flush());
  auto reader = CampaignReader::open(folder.path() + "/out");
  ASSERT_TRUE(reader) << reader.error().text();
  const auto run = reader->last_run();
  ASSERT_TRUE(run && *run);
  EXPECT_EQ((*run)->executions, 50u);
  EXPECT_EQ((*run)->features, 7u) << "the same features are met again";
  ASSERT_EQ((*run)->devices.size(), 1u);
  EXPECT_EQ((*run)->devices[0].executions, 50u);
  EXPECT_EQ((*run)->devices[0].findings, 6u);
  EXPECT_EQ((*run)->devices[0].seconds, 4.0);
  ASSERT_EQ((*run)->scenarios.size(), 1u);
  EXPECT_EQ((*run)->scenarios[0].executions, 50u);
  EXPECT_EQ((*run)->scenarios[0].features, 7u);
  EXPECT_EQ((*run)->scenarios[0].restarts, 2u);
  EXPECT_EQ((*run)->scenarios[0].left_out, 10u);
}

TEST_F(CampaignDatabaseTest, ARunThatWasCutOffEndsWhereItsLastSampleStands) {
  const auto store = Store::open(folder.path() + "/out", Store::Access::exclusive);
  {
    auto killed = RunRecord::begin(*store, {.kind = "fuzz"});
    killed->sample({.doing = "fuzzing", .executions = 321, .features = 12});
    ASSERT_TRUE(killed->database().sql().run("UPDATE runs SET started = '2026-01-01T00:00:00Z'"));
    ASSERT_TRUE(killed->database().sql().run("UPDATE samples SET at = 61.5"));
  }
  auto next = RunRecord::begin(*store, {.kind = "fuzz"});
  ASSERT_TRUE(next);
  const auto rows = next->database().sql().query("SELECT ended, interrupted, executions FROM runs WHERE id = 1");
  ASSERT_TRUE(rows && rows->size() == 1);
  EXPECT_EQ(text_of((*rows)[0][0]), "2026-01-01T00:01:01Z");
  EXPECT_EQ(integer_of((*rows)[0][1]), 1);
  EXPECT_EQ(integer_of((*rows)[0][2]), 321);
}

}  // namespace
}  // namespace dsafuzz
