// Merging: coverage stays, the corpus shrinks, findings and candidates are joined, and nobody's file names are
// believed.
#include "fuzz/merge.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fake_executor.h"
#include "fuzz/feature_set.h"
#include "repro/case_bytes.h"
#include "repro/features.h"
#include "temporary_folder.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

struct MergeTest : testing::Test {
  TemporaryFolder folder;
  Scenario scenario = classic_scenario();

  Store store(const std::string& name, Store::Access access = Store::Access::exclusive) {
    auto opened = Store::open(folder.path() + "/" + name, access);
    EXPECT_TRUE(opened) << opened.error().text();
    return std::move(*opened);
  }
  // Differs from every other by its batch and seed; what the fake device shows depends on the batch's bit width alone.
  Case healthy(std::int64_t batch, std::uint64_t seed) {
    Case c = healthy_scenario().base;
    c.scenario = scenario.name;
    c.shapes["batch"] = batch;
    c.seed = seed;
    return c;
  }
  MergeOptions options() {
    MergeOptions o;
    o.start_workers = [](const RunSettings& settings) -> Result<std::unique_ptr<Executor>> {
      return std::make_unique<FakeExecutor>(FakeBugs{}, settings.device);
    };
    return o;
  }
  std::uint64_t features_of(const Store& of) {
    FakeExecutor device({}, {});
    FeatureSet seen;
    std::vector<std::uint8_t> counters(kFeatureBytes);
    const auto paths = of.corpus(scenario.name);
    EXPECT_TRUE(paths);
    for (const std::string& path : *paths) {
      std::ifstream in(path, std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(in), {});
      const auto c = decode_case({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
      EXPECT_TRUE(c);
      if (c) EXPECT_TRUE(device.run(*c, counters));
      seen.add(counters);
    }
    return seen.size();
  }
};

TEST_F(MergeTest, KeepsCoverageAndDropsTheRest) {
  Store out = store("out");
  for (std::int64_t batch = 1; batch <= 64; ++batch) ASSERT_TRUE(out.add_to_corpus(healthy(batch, 1)));
  const std::uint64_t before = features_of(out);
  MergeSummary summary;
  ASSERT_TRUE(minimise_corpora(out, options(), summary));
  ASSERT_EQ(summary.corpora.size(), 1u);
  EXPECT_EQ(summary.corpora[0].cases, 64u);
  // Batches of 1, 2-3, 4-7, 8-15, 16-31, 32-63 and 64: a feature each.
  EXPECT_EQ(out.corpus(scenario.name)->size(), 7u);
  EXPECT_EQ(features_of(out), before);
  MergeSummary again;
  ASSERT_TRUE(minimise_corpora(out, options(), again));
  EXPECT_EQ(again.corpora[0].kept, 7u) << "a minimised corpus stays as it is";
}

TEST_F(MergeTest, AFailingCaseIsExaminedAndNotMutated) {
  Store out = store("out");
  Case failing = scenario.base;
  for (TensorSpec& tensor : failing.tensors) {
    if (tensor.name == "labels") tensor.set[0] = std::int64_t{5000};
  }
  ASSERT_TRUE(out.add_to_corpus(failing));
  ASSERT_TRUE(out.add_to_corpus(healthy(4, 1)));
  MergeSummary summary;
  ASSERT_TRUE(minimise_corpora(out, options(), summary));
  EXPECT_EQ(summary.corpora[0].failing, 1u);
  EXPECT_EQ(out.candidate_count(), 1u);
  EXPECT_EQ(out.corpus(scenario.name)->size(), 1u);
}

TEST_F(MergeTest, StoppedInTheMiddleItLeavesTheCorpusWhole) {
  Store out = store("out");
  for (std::int64_t batch = 1; batch <= 20; ++batch) ASSERT_TRUE(out.add_to_corpus(healthy(batch, 1)));
  MergeOptions o = options();
  int asked = 0;
  o.stop = [&] { return ++asked > 10; };
  MergeSummary summary;
  ASSERT_TRUE(minimise_corpora(out, o, summary));
  EXPECT_TRUE(summary.interrupted);
  EXPECT_EQ(out.corpus(scenario.name)->size(), 20u);
}

TEST_F(MergeTest, TakesFromOthersWhatIsWhole) {
  Store out = store("out");
  ASSERT_TRUE(out.add_to_corpus(healthy(1, 1)));
  {
    Store other = store("other");
    ASSERT_TRUE(other.add_to_corpus(healthy(1, 1)));
    ASSERT_TRUE(other.add_to_corpus(healthy(2, 1)));
    ASSERT_TRUE(
        other.add_candidate({.signature = {.verdict = Verdict::crash, .condition = "x"}, .the_case = healthy(3, 1)}));
    const std::string corpus = other.folder() + "/corpus/" + scenario.name;
    std::ofstream(corpus + "/0000") << "no case";
    fs::create_symlink("/etc/passwd", corpus + "/1111");
    fs::create_directories(other.folder() + "/corpus/Not Plain");
    // A finding's folder that claims a name which is not its signature's.
    fs::create_directories(other.folder() + "/findings/device_assert-0000000000000000");
    std::ofstream(other.folder() + "/findings/device_assert-0000000000000000/finding.json")
        << R"({"version": 1, "signature": {"verdict": "device_assert", "condition": "x"}})";
  }
  MergeSummary summary;
  const auto taken = take_folders(out, {folder.path() + "/other"}, summary);
  ASSERT_TRUE(taken) << taken.error().text();
  EXPECT_EQ(summary.cases, 1);
  EXPECT_EQ(summary.candidates, 1);
  EXPECT_EQ(summary.findings, 0);
  EXPECT_EQ(out.corpus(scenario.name)->size(), 2u);
  MergeSummary again;
  ASSERT_TRUE(take_folders(out, {folder.path() + "/other"}, again));
  EXPECT_EQ(again.cases + again.candidates, 0);
}

TEST_F(MergeTest, RefusesWhatIsNoCampaign) {
  Store out = store("out");
  MergeSummary summary;
  const auto missing = take_folders(out, {folder.path() + "/nothing"}, summary);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().exit_code(), 2);
  const auto self =
      take_folders(out, {folder.path() + "/../" + fs::path(folder.path()).filename().string() + "/out"}, summary);
  ASSERT_FALSE(self);
  EXPECT_NE(self.error().text().find("into itself"), std::string::npos) << self.error().text();
}

}  // namespace
}  // namespace dsafuzz
