// minimal(start, bug) == known, with a bound on what it may cost. The known minimum follows from the fake operators'
// conditions (fake_device.cpp), by hand.
#include "repro/reduce.h"

#include <gtest/gtest.h>

#include "fake_device.h"
#include "repro/case_text.h"
#include "repro/simpler.h"

namespace dsafuzz::testing {
namespace {

struct Row {
  const char* name;
  std::string start;
  Signature bug;
  std::string minimal;
  int executions;  // at most
};

std::string classic(const std::string& modes) {
  return "case: classic\nseed: 42\n" + modes +
         "shapes: {batch: 32, features: 10, classes: 5}\n"
         "tensors:\n"
         "  input: {shape: [batch, features], dtype: float32, fill: randn}\n"
         "  weight: {shape: [classes, features], dtype: float32, fill: randn, parameter: true}\n"
         "  labels: {shape: [batch], dtype: int64, fill: {randint: [0, classes + 1]}}\n"
         "steps:\n"
         "  - logits = aten::linear(input, weight)\n"
         "  - loss = aten::cross_entropy_loss(logits, labels, reduction=mean, ignore_index=-100)\n";
}

const std::string kClassicMinimal =
    "case: classic\nseed: 0\nshapes: {batch: 1, classes: 1}\n"
    "tensors:\n"
    "  labels: {shape: [batch], dtype: int64, fill: 1}\n"
    "  logits: {shape: [batch, classes], dtype: float32, fill: 0}\n"
    "steps:\n  - loss = aten::cross_entropy_loss(logits, labels)\n";

std::string joint(int size, int needed, const std::string& set) {
  return "case: joint\nseed: 7\nshapes: {n: " + std::to_string(size) +
         "}\ntensors:\n  labels: {shape: [n], dtype: int64, fill: {randint: [0, 10]}, set: " + set +
         "}\nsteps:\n  - dsafuzz::joint" + std::to_string(needed) + "(labels)\n";
}

std::vector<Row> rows() {
  return {
      {"classic", classic(""), label_bug(), kClassicMinimal, 40},
      {"classic, backward", classic("phase: backward\n"), label_bug(), kClassicMinimal, 40},
      {"classic, autocast", classic("precision: autocast_float16\n"), label_bug(), kClassicMinimal, 40},
      {"classic, autocast and backward", classic("precision: autocast_float16\nphase: backward\n"), label_bug(),
       kClassicMinimal, 40},
      {"a label far out of range",
       "case: far\nseed: 1\nshapes: {batch: 4096, classes: 1000}\ntensors:\n"
       "  logits: {shape: [batch, classes], dtype: float16, fill: 0}\n"
       "  labels: {shape: [batch], dtype: int64, fill: {randint: [0, classes]}, set: {1234: 7392}}\n"
       "  weight: {shape: [classes], dtype: float32, fill: 1}\n"
       "steps:\n  - loss = aten::cross_entropy_loss(logits, labels, weight)\n",
       label_bug(),
       "case: far\nseed: 0\nshapes: {batch: 1, classes: 1}\ntensors:\n"
       "  logits: {shape: [batch, classes], dtype: float32, fill: 0}\n"
       "  labels: {shape: [batch], dtype: int64, fill: 1}\n"
       "steps:\n  - loss = aten::cross_entropy_loss(logits, labels)\n",
       60},
      {"two culprits together", joint(64, 2, "{3: 55, 40: -7}"),
       fake_bug(Verdict::device_assert, "dsafuzz::joint2", "t < 10"),
       "case: joint\nseed: 0\nshapes: {n: 2}\ntensors:\n  labels: {shape: [n], dtype: int64, fill: -1}\n"
       "steps:\n  - dsafuzz::joint2(labels)\n",
       80},
      {"four culprits among 4096", joint(4096, 4, "{3: 55, 40: 10, 2000: 99, 4095: 11}"),
       fake_bug(Verdict::device_assert, "dsafuzz::joint4", "t < 10"),
       "case: joint\nseed: 0\nshapes: {n: 4}\ntensors:\n  labels: {shape: [n], dtype: int64, fill: -1}\n"
       "steps:\n  - dsafuzz::joint4(labels)\n",
       120},
      {"embedding",
       "case: embed\nseed: 3\nshapes: {words: 100, width: 16, length: 64}\ntensors:\n"
       "  table: {shape: [words, width], dtype: float32, fill: randn, parameter: true}\n"
       "  ids: {shape: [length, 8], dtype: int64, fill: {randint: [0, words]}, set: {77: 100}}\n"
       "steps:\n  - out = aten::embedding(table, ids)\n  - y = aten::relu(out)\n",
       index_bug("aten::embedding"),
       "case: embed\nseed: 0\nshapes: {length: 1, width: 1, words: 1}\ntensors:\n"
       "  table: {shape: [words, width], dtype: float32, fill: 0}\n"
       "  ids: {shape: [length, 1], dtype: int64, fill: 1}\n"
       "steps:\n  - out = aten::embedding(table, ids)\n",
       60},
      {"gather, one bad index of 1,024",
       "case: pick\nseed: 3\nshapes: {n: 1024, width: 64}\ntensors:\n"
       "  input: {shape: [n, width], dtype: float32, fill: randn}\n"
       "  index: {shape: [n, 1], dtype: int64, fill: {randint: [0, width]}, set: {777: 64}}\n"
       "steps:\n  - out = aten::gather(input, 1, index)\n",
       index_bug("aten::gather"),
       "case: pick\nseed: 0\nshapes: {n: 1, width: 1}\ntensors:\n"
       "  input: {shape: [n, width], dtype: float32, fill: 0}\n"
       "  index: {shape: [n, 1], dtype: int64, fill: 1}\n"
       "steps:\n  - out = aten::gather(input, 0, index)\n",
       60},
      {"index over two axes",
       "case: grid\nseed: 3\nshapes: {rows: 16, columns: 8, picked: 20}\ntensors:\n"
       "  input: {shape: [rows, columns], dtype: float32, fill: arange}\n"
       "  index: {shape: [rows, picked], dtype: int64, fill: arange, set: {0: 0}}\n"
       "steps:\n  - out = aten::index(input, index)\n",
       index_bug("aten::index"),
       "case: grid\nseed: 0\nshapes: {columns: 1, picked: 1, rows: 1}\ntensors:\n"
       "  input: {shape: [rows, columns], dtype: float32, fill: 0}\n"
       "  index: {shape: [rows, picked], dtype: int64, fill: 1}\n"
       "steps:\n  - out = aten::index(input, index)\n",
       60},
      {"segmentation, labels in two dimensions",
       "case: segment\nseed: 3\nshapes: {batch: 4, classes: 21, height: 16, width: 16}\ntensors:\n"
       "  image: {shape: [batch, classes, height, width], dtype: float32, fill: randn}\n"
       "  labels: {shape: [batch, height, width], dtype: int64, fill: {randint: [0, classes]}, set: {700: 255}}\n"
       "steps:\n  - logits = aten::relu(image)\n  - loss = aten::cross_entropy_loss(logits, labels)\n",
       [] {
         Signature s = label_bug("nll_loss2d_forward_kernel");
         s.file = "aten/src/ATen/native/cuda/NLLLoss2d.cu";
         return s;
       }(),
       "",  // its shape is checked below: which variable names remain is a matter of order
       80},
      {"use after free needs two steps",
       "case: freed\nshapes: {n: 1000}\ntensors:\n  x: {shape: [n], dtype: float32, fill: randn}\n"
       "  y: {shape: [n], dtype: float32, fill: randn}\nsteps:\n"
       "  - a = aten::relu(x)\n  - b = aten::relu(y)\n  - c = aten::relu(b)\n  - dsafuzz::free(a)\n"
       "  - d = aten::relu(c)\n  - e = dsafuzz::read(a)\n  - f = aten::relu(e)\n",
       use_after_free(),
       "case: freed\nshapes: {n: 1}\ntensors:\n  a: {shape: [n], dtype: float32, fill: 0}\nsteps:\n"
       "  - dsafuzz::free(a)\n  - e = dsafuzz::read(a)\n",
       60},
      {"one NaN among probabilities",
       "case: nan\nseed: 5\nshapes: {n: 512}\ntensors:\n"
       "  p: {shape: [n], dtype: float32, fill: {uniform: [0, 1]}, set: {100: .nan}}\n"
       "  t: {shape: [n], dtype: float32, fill: {uniform: [0, 1]}}\n"
       "steps:\n  - loss = aten::binary_cross_entropy(p, t)\n",
       probability_bug(),
       "case: nan\nseed: 0\nshapes: {n: 1}\ntensors:\n  p: {shape: [n], dtype: float32, fill: -1.0}\n"
       "  t: {shape: [n], dtype: float32, fill: 0}\nsteps:\n  - loss = aten::binary_cross_entropy(p, t)\n",
       60},
      {"a bug that needs size keeps it",
       "case: large\nshapes: {batch: 4096, width: 8}\ntensors:\n  x: {shape: [batch, width], dtype: float32, fill: "
       "randn}\n"
       "steps:\n  - dsafuzz::large_batch(x)\n",
       fake_bug(Verdict::memory_fault, "dsafuzz::large_batch", "launch"),
       "case: large\nseed: 0\nshapes: {batch: 257, width: 1}\ntensors:\n  x: {shape: [batch, width], dtype: float32, "
       "fill: 0}\n"
       "steps:\n  - dsafuzz::large_batch(x)\n",
       60},
      {"a bug of half precision keeps it",
       "case: half\nprecision: half\nshapes: {n: 8}\ntensors:\n  x: {shape: [n], dtype: float32, fill: randn}\n"
       "steps:\n  - y = aten::relu(x)\n  - dsafuzz::half_only(y)\n",
       fake_bug(Verdict::device_assert, "dsafuzz::half_only", "finite"),
       "case: half\nshapes: {n: 1}\ntensors:\n  y: {shape: [n], dtype: float16, fill: 0}\nsteps:\n  - "
       "dsafuzz::half_only(y)\n",
       60},
  };
}

TEST(Reduce, FindsTheKnownMinimum) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    const Case start = from_yaml(row.start);
    const auto reduced = reduce(start, row.bug, one_by_one(run_on_fake), {});
    if (!reduced) {
      ADD_FAILURE() << reduced.error().text();
      continue;
    }
    std::printf("%-42s %3d executions, %4d cached, %3d edits rejected\n", row.name, reduced->executions,
                reduced->cached, reduced->edits_rejected());
    EXPECT_EQ(run_on_fake(reduced->minimal).signature, row.bug);
    EXPECT_LE(reduced->executions, row.executions);
    EXPECT_TRUE(reduced->one_minimal);
    EXPECT_FALSE(simpler(start, reduced->minimal)) << "it grew";
    if (!row.minimal.empty()) EXPECT_EQ(to_yaml(reduced->minimal), to_yaml(from_yaml(row.minimal)));
  }
}

TEST(Reduce, SegmentationEndsWithOneElementOfEach) {
  for (const Row& row : rows()) {
    if (std::string_view(row.name).find("segmentation") == std::string_view::npos) continue;
    const auto reduced = reduce(from_yaml(row.start), row.bug, one_by_one(run_on_fake), {});
    ASSERT_TRUE(reduced);
    ASSERT_EQ(reduced->minimal.steps.size(), 1u);
    for (const TensorSpec& t : reduced->minimal.tensors) {
      EXPECT_EQ(element_count(*concrete_shape(t, reduced->minimal.shapes)), 1);
    }
    EXPECT_EQ(reduced->minimal.find_tensor("logits")->shape.size(), 4u);
  }
}

TEST(Reduce, IsDeterministicAndIdempotent) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    const Case start = from_yaml(row.start);
    const auto first = reduce(start, row.bug, one_by_one(run_on_fake), {}), second = reduce(start, row.bug, one_by_one(run_on_fake), {});
    ASSERT_TRUE(first && second);
    EXPECT_EQ(to_yaml(first->minimal), to_yaml(second->minimal));
    EXPECT_EQ(first->executions, second->executions);
    const auto again = reduce(first->minimal, row.bug, one_by_one(run_on_fake), {});
    ASSERT_TRUE(again);
    EXPECT_EQ(to_yaml(again->minimal), to_yaml(first->minimal));
    EXPECT_TRUE(again->one_minimal);
    EXPECT_LE(again->executions, 1 + again->edits_rejected() + 20);
  }
}

TEST(Reduce, AnotherBugIsReportedAndNeverAccepted) {
  const Case start = from_yaml(
      "case: two\nseed: 1\nshapes: {batch: 8, classes: 5}\ntensors:\n"
      "  logits: {shape: [batch, classes], dtype: float32, fill: randn}\n"
      "  labels: {shape: [batch], dtype: int64, fill: 0, set: {3: 9}}\n"
      "steps:\n  - dsafuzz::two_bugs(logits, labels)\n");
  const Signature wanted = fake_bug(Verdict::device_assert, "dsafuzz::two_bugs", "t < n");
  const auto reduced = reduce(start, wanted, one_by_one(run_on_fake), {});
  ASSERT_TRUE(reduced);
  EXPECT_EQ(reduced->minimal.shapes.at("classes"), 2);
  EXPECT_EQ(reduced->minimal.shapes.at("batch"), 1);
  ASSERT_EQ(reduced->slips.size(), 1u);
  EXPECT_EQ(reduced->slips[0].signature.condition, "one class");
  EXPECT_EQ(run_on_fake(reduced->slips[0].found).signature, reduced->slips[0].signature);
}

ReduceLimits at_most(int executions) {
  ReduceLimits limits;
  limits.executions = executions;
  return limits;
}

TEST(Reduce, LimitsEndItUnfinished) {
  const Row classic_row = rows()[0];
  const Case start = from_yaml(classic_row.start);
  for (int executions = 1; executions <= 12; ++executions) {
    SCOPED_TRACE(executions);
    const auto reduced = reduce(start, classic_row.bug, one_by_one(run_on_fake), at_most(executions));
    ASSERT_TRUE(reduced);
    EXPECT_EQ(reduced->executions, executions);
    EXPECT_FALSE(reduced->one_minimal);
    EXPECT_FALSE(simpler(start, reduced->minimal));
    EXPECT_EQ(run_on_fake(reduced->minimal).signature, classic_row.bug);
  }
  double now = 0;
  ReduceLimits limits;
  limits.seconds = 5;
  limits.clock = [&] { return now += 1; };
  const auto late = reduce(start, classic_row.bug, one_by_one(run_on_fake), limits);
  ASSERT_TRUE(late);
  EXPECT_FALSE(late->one_minimal);
  EXPECT_EQ(late->executions, 4);  // asked at 1 (start), then before each: 2, 3, 4, 5 s are within 5 s of it
  EXPECT_FALSE(reduce(start, classic_row.bug, one_by_one(run_on_fake), at_most(0)));
}

TEST(Reduce, AStartThatShowsSomethingElseIsAProblem) {
  const Case start = from_yaml(kClassicMinimal);
  const auto reduced = reduce(start, use_after_free(), one_by_one(run_on_fake), {});
  ASSERT_FALSE(reduced);
  EXPECT_NE(reduced.error().what.find("t >= 0 && t < n_classes"), std::string::npos) << reduced.error().text();
  EXPECT_NE(reduced.error().what.find("use after free"), std::string::npos);
}

TEST(Reduce, ReportsProgressWithEverSimplerCases) {
  const Row row = rows()[0];
  std::vector<Case> seen;
  ReduceLimits limits;
  limits.progress = [&](int, const Case& best) { seen.push_back(best); };
  ASSERT_TRUE(reduce(from_yaml(row.start), row.bug, one_by_one(run_on_fake), limits));
  ASSERT_GT(seen.size(), 2u);
  EXPECT_EQ(seen[2].steps.size(), 1u);  // after the start, the cut comes first
}

}  // namespace
}  // namespace dsafuzz::testing
