// How the reducer asks: many at once, of a bug that comes and goes, of cases too large to bisect; and the proof at its
// end. The known minima follow from the oracles here, by hand.
#include "repro/reduce_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "fake_device.h"
#include "repro/case_text.h"
#include "repro/simpler.h"

namespace dsafuzz::testing {
namespace {

const char* const kClassic =
    "case: classic\nseed: 42\nshapes: {batch: 32, features: 10, classes: 5}\ntensors:\n"
    "  input: {shape: [batch, features], dtype: float32, fill: randn}\n"
    "  weight: {shape: [classes, features], dtype: float32, fill: randn, parameter: true}\n"
    "  labels: {shape: [batch], dtype: int64, fill: {randint: [0, classes + 1]}}\nsteps:\n"
    "  - logits = aten::linear(input, weight)\n"
    "  - loss = aten::cross_entropy_loss(logits, labels, reduction=mean, ignore_index=-100)\n";
const char* const kFourCulprits =
    "case: joint\nseed: 7\nshapes: {n: 4096}\ntensors:\n"
    "  labels: {shape: [n], dtype: int64, fill: {randint: [0, 10]}, set: {3: 55, 40: 10, 2000: 99, 4095: 11}}\n"
    "steps:\n  - dsafuzz::joint4(labels)\n";
const Signature kJoint = fake_bug(Verdict::device_assert, "dsafuzz::joint4", "t < 10");

TEST(ReduceSearch, TheResultDoesNotDependOnHowManyRunAtOnce) {
  for (const auto& [text, bug] : {std::pair{kClassic, label_bug()}, std::pair{kFourCulprits, kJoint}}) {
    std::string minimal;
    int executions = 0;
    for (const int width : {1, 2, 3, 8}) {
      SCOPED_TRACE(width);
      for (const int limit : {25, 500}) {
        ReduceLimits limits;
        limits.executions = limit;
        limits.at_once = [&] { return width; };
        const auto reduced = reduce(from_yaml(text), bug, one_by_one(run_on_fake), limits);
        ASSERT_TRUE(reduced);
        if (limit == 25) {
          if (width == 1) minimal = to_yaml(reduced->minimal);
          EXPECT_EQ(to_yaml(reduced->minimal), minimal) << "cut short";
          continue;
        }
        if (width == 1) executions = reduced->executions;
        EXPECT_EQ(reduced->executions, executions);
        EXPECT_TRUE(reduced->one_minimal);
      }
    }
  }
}

TEST(ReduceSearch, AListIsRunAheadAsWideAsAllowedAndCountedInItsOrder) {
  const Case start = from_yaml(kFourCulprits);
  std::vector<Case> candidates;  // of these only the one with four elements left shows the bug
  for (const std::int64_t left : {1, 2, 3, 4, 0}) {
    candidates.push_back(start);
    auto& set = candidates.back().tensors[0].set;
    set.erase(std::next(set.begin(), left), set.end());
    candidates.back().tensors[0].fill = {};
  }
  for (const int width : {1, 2, 3, 8}) {
    SCOPED_TRACE(width);
    std::vector<std::size_t> calls;
    const TryCases try_cases = [&](std::span<const Case> cases) {
      calls.push_back(cases.size());
      return one_by_one(run_on_fake)(cases);
    };
    ReduceLimits limits;
    limits.at_once = [&] { return width; };
    ReduceSearch search(kJoint, try_cases, limits);
    ASSERT_TRUE(search.begin(start));
    EXPECT_TRUE(search.offer_first(candidates));
    EXPECT_EQ(search.best(), candidates[3]);
    EXPECT_EQ(search.executions(), 1 + 4);
    EXPECT_EQ(search.rejected(), 3);
    EXPECT_EQ(*std::ranges::max_element(calls), static_cast<std::size_t>(std::min(width, 5)));
  }
}

// The fake device, which shows a bug only in this share of runs; the same draws each time.
TryCases sometimes(double share, std::mt19937& random, int& runs) {
  return one_by_one([share, &random, &runs](const Case& c) {
    ++runs;
    Trial trial = run_on_fake(c);
    if (is_bug(trial.signature.verdict) && std::uniform_real_distribution<>()(random) >= share) return Trial{};
    return trial;
  });
}

TEST(ReduceSearch, ABugThatComesAndGoesIsStillReducedToItsMinimum) {
  const auto always = reduce(from_yaml(kClassic), label_bug(), one_by_one(run_on_fake), {});
  ASSERT_TRUE(always);
  for (const double share : {0.9, 0.7, 0.5}) {
    int wrong = 0;
    for (unsigned seed = 1; seed <= 50; ++seed) {
      std::mt19937 random(seed);
      int runs = 0;
      ReduceLimits limits;
      limits.start_runs = 10;
      limits.executions = 5'000;
      const auto reduced = reduce(from_yaml(kClassic), label_bug(), sometimes(share, random, runs), limits);
      ASSERT_TRUE(reduced);
      EXPECT_EQ(reduced->executions, runs) << "every run counts";
      EXPECT_EQ(reduced->start_runs, 10);
      if (reduced->start_shown < 10) EXPECT_GT(reduced->runs_for_no, 1);
      // What seems rarer than it is, is reduced coarsely; that is another test's matter.
      if (reduced->start_shown >= 3) wrong += to_yaml(reduced->minimal) != to_yaml(always->minimal);
    }
    // Where all ten runs showed it by chance (0.9^10 = 35 % of the seeds), one run decides, and a no may be wrong.
    EXPECT_LE(wrong, share == 0.9 ? 20 : 1) << share;
  }
}

TEST(ReduceSearch, RunsForANoKeepTheRiskOfAHundredBelowOnePercent) {
  EXPECT_EQ(runs_for_no(1), 1);
  for (const double share : {0.95, 0.9, 0.7, 0.5, 0.3, 0.1}) {
    const int runs = runs_for_no(share);
    EXPECT_LE(100 * std::pow(1 - share, runs), 0.01 + 1e-12) << share;
    EXPECT_GT(100 * std::pow(1 - share, runs - 1), 0.01) << share << ": one run fewer would do";
  }
}

TEST(ReduceSearch, ABugSeenRarelyIsReducedCoarselyAndNotCalledMinimal) {
  std::mt19937 random(5);
  int runs = 0;
  ReduceLimits limits;
  limits.start_runs = 10;
  limits.executions = 50'000;
  const auto reduced = reduce(from_yaml(kClassic), label_bug(), sometimes(0.2, random, runs), limits);
  ASSERT_TRUE(reduced);
  ASSERT_LT(reduced->start_shown, 3) << "another seed is needed for this test";
  EXPECT_EQ(reduced->minimal.steps.size(), 1u);
  EXPECT_FALSE(reduced->one_minimal);
}

TEST(ReduceSearch, AStartThatNeverShowsTheBugSaysHowOftenItWasRun) {
  ReduceLimits limits;
  limits.start_runs = 10;
  const auto reduced = reduce(from_yaml(kClassic), kJoint, one_by_one(run_on_fake), limits);
  ASSERT_FALSE(reduced);
  EXPECT_THAT(reduced.error().what, ::testing::HasSubstr("in 10 runs"));
}

TEST(Verify, AMinimalCaseGetsACertificateAndAnyOtherASmallerCase) {
  for (const auto& [text, bug] : {std::pair{kClassic, label_bug()}, std::pair{kFourCulprits, kJoint}}) {
    const Case start = from_yaml(text);
    const auto reduced = reduce(start, bug, one_by_one(run_on_fake), {});
    ASSERT_TRUE(reduced);
    const auto proof = verify_minimal(reduced->minimal, bug, one_by_one(run_on_fake), {});
    ASSERT_TRUE(proof);
    EXPECT_TRUE(proof->one_minimal) << proof->pass;
    EXPECT_EQ(proof->certificate, reduced->certificate);
    EXPECT_GT(proof->executions, 1);
    EXPECT_LE(proof->executions, 1 + reduced->edits_rejected()) << "equal edits run once";

    const auto refuted = verify_minimal(start, bug, one_by_one(run_on_fake), {});
    ASSERT_TRUE(refuted);
    EXPECT_FALSE(refuted->one_minimal);
    ASSERT_TRUE(refuted->smaller);
    EXPECT_TRUE(simpler(*refuted->smaller, start));
    EXPECT_EQ(run_on_fake(*refuted->smaller).signature, bug);
    EXPECT_FALSE(refuted->pass.empty());
  }
}

TEST(Verify, WithoutRoomToTryAllItProvesNothing) {
  ReduceLimits limits;
  limits.executions = 2;
  const auto reduced = reduce(from_yaml(kClassic), label_bug(), one_by_one(run_on_fake), {});
  ASSERT_TRUE(reduced);
  const auto proof = verify_minimal(reduced->minimal, label_bug(), one_by_one(run_on_fake), limits);
  ASSERT_TRUE(proof);
  EXPECT_FALSE(proof->one_minimal);
  EXPECT_FALSE(proof->smaller);
}

// A kernel that computes `rows * width` in 32 bits: it fails where a tensor has 2^31 elements or more. The reports that
// need this size take seconds and gigabytes for each run, so the number of runs matters most.
Trial overflows(const Case& c) {
  for (const TensorSpec& t : c.tensors) {
    const auto shape = concrete_shape(t, c.shapes);
    if (shape && element_count(*shape) >= std::int64_t{1} << 31)
      return {fake_bug(Verdict::memory_fault, "dsafuzz::rows", "offset"), 0, {}};
  }
  return {};
}

TEST(ReduceSearch, ABugThatNeedsAnOverflowKeepsTheSizeAndShrinksTheRest) {
  const Case start = from_yaml(
      "case: large\nseed: 3\nshapes: {rows: 70000, width: 32768}\ntensors:\n"
      "  x: {shape: [rows, width], dtype: float16, fill: randn, layout: expanded}\n"
      "  labels: {shape: [rows], dtype: int64, fill: {randint: [0, width]}, set: {69999: 7}}\n"
      "steps:\n  - loss = dsafuzz::rows(x, labels, reduction=none)\n");
  const auto reduced = reduce(start, fake_bug(Verdict::memory_fault, "dsafuzz::rows", "offset"),
                              one_by_one(overflows), {});
  ASSERT_TRUE(reduced);
  const auto shape = concrete_shape(reduced->minimal.tensors.at(0), reduced->minimal.shapes);
  ASSERT_TRUE(shape);
  EXPECT_EQ(element_count(*shape), std::int64_t{1} << 31) << "the least that overflows";
  EXPECT_EQ(reduced->minimal.tensors.size(), 1u) << "labels do not matter to it";
  EXPECT_TRUE(reduced->one_minimal);
  EXPECT_LE(reduced->executions, 25) << "bisection would take 16 more for each axis";
}

}  // namespace
}  // namespace dsafuzz::testing
