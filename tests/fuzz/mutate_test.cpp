// The mutator's promises, over many mutations of several scenarios.
#include "fuzz/mutate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fake_executor.h"
#include "fuzz/interesting_values.h"
#include "fuzz/legal_values.h"
#include "repro/case_bytes.h"
#include "repro/case_text.h"
#include "repro/fill.h"

namespace dsafuzz {
namespace {

constexpr int kMutations = 100'000;

// Probabilities in [0, 1] for a loss that asserts on anything else.
Scenario probability_scenario(bool only_legal) {
  Scenario s;
  s.name = s.base.scenario = "probability";
  s.base.shapes = {{"n", 8}};
  s.base.tensors = {{.name = "p", .shape = {{"n"}}, .fill = {.kind = Fill::Kind::uniform}},
                    {.name = "target", .shape = {{"n"}}, .fill = {.constant = std::int64_t{1}}}};
  s.base.steps = {{.results = {"loss"},
                   .op = "aten::binary_cross_entropy",
                   .arguments = {{"", {Name{"p"}}}, {"", {Name{"target"}}}}}};
  s.ranges = {{"n", {0, 100'000}}};
  s.legal["p"] = {.real = true, .real_from = 0, .real_to = 1};
  s.vary.values = {"p"};
  s.vary.shapes = {"n"};
  s.vary.dtypes = {"p"};
  s.dtypes = {{"p", {Dtype::float32, Dtype::float16, Dtype::bfloat16}}};
  s.only_legal = only_legal;
  return s;
}

struct Row {
  const char* name;
  Scenario scenario;
};

std::vector<Row> rows() {
  Scenario nothing_varies = classic_scenario(false);
  nothing_varies.vary = {};
  return {{"labels only", classic_scenario(false)},
          {"everything varies", classic_scenario()},
          {"healthy twin", healthy_scenario()},
          {"probabilities", probability_scenario(false)},
          {"healthy probabilities", probability_scenario(true)},
          {"nothing varies", nothing_varies}};
}

// An own check of legality, element by element from the written-out contents.
bool all_legal(const Scenario& s, const Case& c) {
  for (const auto& [name, legal] : s.legal) {
    const TensorSpec* tensor = c.find_tensor(name);
    auto values = contents(c, *tensor);
    const auto shape = concrete_shape(*tensor, c.shapes);
    if (tensor->layout == Layout::expanded && !values.empty())
      values.resize(values.size() / static_cast<std::size_t>(shape->front()));
    for (const Number& v : values) {
      if (legal.real) {
        if (!(as_double(v) >= legal.real_from && as_double(v) <= legal.real_to)) return false;
        continue;
      }
      const std::int64_t label = std::get<std::int64_t>(v);
      const bool also = std::ranges::find(legal.also, label) != legal.also.end();
      if (!also && (label < 0 || label >= c.shapes.at("classes"))) return false;
    }
  }
  return true;
}

// A walk: each case is mutated further, now and then crossed with an earlier one or started over.
template <typename Visit>
void walk(const Scenario& s, std::uint64_t seed, int steps, Visit visit) {
  Random random(seed);
  Case c = s.base, earlier = s.base;
  for (int i = 0; i < steps; ++i) {
    if (random.one_in(10)) {
      c = crossover(s, c, earlier, random);
    } else {
      c = mutate(s, c, random);
    }
    visit(c);
    if (random.one_in(20)) earlier = c;
    if (random.one_in(50)) c = s.base;
  }
}

TEST(Mutate, EveryCaseIsValidAndWithinTheRules) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    const Scenario& s = row.scenario;
    int changed = 0, illegal = 0;
    walk(s, 1, kMutations, [&](const Case& c) {
      ASSERT_TRUE(validate(c)) << to_yaml(c);
      ASSERT_TRUE(belongs(s, c)) << to_yaml(c);
      const bool legal = all_legal(s, c);
      if (s.only_legal) ASSERT_TRUE(legal) << to_yaml(c);
      changed += c != s.base;
      illegal += !legal;
    });
    if (HasFatalFailure()) return;
    const bool varies = !s.vary.values.empty();
    EXPECT_EQ(changed > kMutations / 2, varies);
    // A search that rarely leaves the legal values would find nothing, one that always does could not go deep.
    if (!s.only_legal && varies) {
      EXPECT_GT(illegal, kMutations / 10);
      EXPECT_LT(illegal, kMutations * 19 / 20);
    }
  }
}

TEST(Mutate, IsAFunctionOfItsSeed) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    for (std::uint64_t seed : {0u, 1u, 7u}) {
      std::vector<Case> first, second;
      walk(row.scenario, seed, 500, [&](const Case& c) { first.push_back(c); });
      walk(row.scenario, seed, 500, [&](const Case& c) { second.push_back(c); });
      EXPECT_EQ(first, second);
    }
  }
}

TEST(Mutate, ReachesTheValuesThatMatter) {
  const Scenario s = classic_scenario();
  std::set<std::int64_t> labels, sizes;
  std::set<Dtype> dtypes;
  std::set<Precision> precisions;
  std::set<Layout> layouts;
  std::set<std::string> reductions;
  bool nan = false, infinite = false, half_edge = false, wrapped = false, backward = false, changed_fill = false;
  Random random(3);
  for (int i = 0; i < kMutations; ++i) {
    const Case c = mutate(s, s.base, random);
    sizes.insert(c.shapes.at("batch"));
    const TensorSpec& label = *c.find_tensor("labels");
    dtypes.insert(label.dtype);
    layouts.insert(label.layout);
    precisions.insert(c.precision);
    backward |= c.phase == Phase::backward;
    reductions.insert(std::get<Name>(c.steps[0].arguments[2].value.v).text);
    changed_fill |= label.fill.kind == Fill::Kind::constant;
    for (const auto& [index, value] : label.set) {
      const std::int64_t v = std::get<std::int64_t>(value);
      labels.insert(v);
      wrapped |= v > INT32_MAX && static_cast<std::int32_t>(v) >= 0 && static_cast<std::int32_t>(v) < 5;
    }
    for (const auto& [index, value] : c.find_tensor("logits")->set) {
      nan |= std::isnan(as_double(value));
      infinite |= std::isinf(as_double(value));
      half_edge |= as_double(value) == 65504 || as_double(value) == 65520;
    }
  }
  for (std::int64_t v :
       {std::int64_t{-1}, std::int64_t{0}, std::int64_t{4}, std::int64_t{5}, std::int64_t{6}, std::int64_t{-100},
        std::int64_t{INT32_MAX}, std::int64_t{INT32_MIN}, INT64_MAX, INT64_MIN, (std::int64_t{1} << 53) + 1}) {
    EXPECT_TRUE(labels.contains(v)) << v;
  }
  for (std::int64_t n : {0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4095, 4096})
    EXPECT_TRUE(sizes.contains(n)) << n;
  EXPECT_EQ(dtypes.size(), 4u);
  EXPECT_EQ(precisions.size(), 3u);
  EXPECT_EQ(layouts.size(), 4u);
  EXPECT_EQ(reductions, (std::set<std::string>{"none", "mean", "sum"}));
  EXPECT_TRUE(nan && infinite && half_edge && wrapped && backward && changed_fill);
}

TEST(Mutate, CasesStaySmallMostOfTheTime) {
  const Scenario s = classic_scenario();
  int large = 0;
  walk(s, 5, 20'000, [&](const Case& c) {
    std::int64_t elements = 0;
    for (const TensorSpec& t : c.tensors) elements += element_count(*concrete_shape(t, c.shapes));
    EXPECT_LE(elements, kMostElements);
    large += elements > kUsualElements;
    EXPECT_LE(encode(c).size(), kCaseBytesLimit);
  });
  EXPECT_LT(large, 2'000);
}

TEST(Mutate, AForeignCaseCountsAsTheBase) {
  const Scenario s = classic_scenario(false);
  struct Foreign {
    const char* name;
    void (*edit)(Case&);
  };
  for (const Foreign& row : std::initializer_list<Foreign>{
           {"another scenario", [](Case& c) { c.scenario = "other"; }},
           {"another operator", [](Case& c) { c.steps[0].op = "aten::nll_loss"; }},
           {"a size that does not vary", [](Case& c) { c.shapes["batch"] = 7; }},
           {"values that do not vary", [](Case& c) { c.tensors[0].set[0] = 1.0; }},
           {"a dtype that does not vary", [](Case& c) { c.tensors[1].dtype = Dtype::int32; }},
           {"a precision that does not vary", [](Case& c) { c.precision = Precision::half; }},
           {"not valid", [](Case& c) { c.steps.clear(); }}}) {
    SCOPED_TRACE(row.name);
    Case foreign = s.base;
    row.edit(foreign);
    EXPECT_FALSE(belongs(s, foreign));
    Random a(9), b(9);
    EXPECT_EQ(mutate(s, foreign, a), mutate(s, s.base, b));
  }
}

TEST(LegalValues, ClassesOfValues) {
  const Bounds labels{.from = 0, .to = 5, .also = {-100}};
  const Bounds unit{.real = true, .real_from = 0, .real_to = 1};
  struct ClassRow {
    const Bounds& bounds;
    Number value;
    ValueClass expected;
  };
  for (const ClassRow& row :
       std::initializer_list<ClassRow>{{labels, std::int64_t{5}, ValueClass::at_end},
                                       {labels, std::int64_t{6}, ValueClass::above},
                                       {labels, std::int64_t{-1}, ValueClass::below},
                                       {labels, std::int64_t{-2}, ValueClass::far_below},
                                       {labels, std::int64_t{-99}, ValueClass::far_below},
                                       {labels, (std::int64_t{1} << 32) + 4, ValueClass::wraps_int32},
                                       {labels, (std::int64_t{1} << 32) + 5, ValueClass::above},
                                       {labels, -(std::int64_t{1} << 32), ValueClass::wraps_int32},
                                       {unit, std::nan(""), ValueClass::nan},
                                       {unit, INFINITY, ValueClass::infinite},
                                       {unit, -1e-7, ValueClass::below},
                                       {unit, 1 + 1e-7, ValueClass::at_end},
                                       {unit, 7.0, ValueClass::above}}) {
    SCOPED_TRACE(to_text(row.value));
    EXPECT_FALSE(row.bounds.contain(row.value));
    EXPECT_EQ(class_of(row.bounds, row.value), row.expected);
  }
  for (std::int64_t v : {0, 4, -100}) EXPECT_TRUE(labels.contain(v)) << v;
  for (double v : {0.0, -0.0, 1.0, 0.5}) EXPECT_TRUE(unit.contain(v)) << v;
}

TEST(LegalValues, FindsWhatTheDtypeStores) {
  Scenario s = classic_scenario();
  Case c = s.base;
  EXPECT_TRUE(illegal_values(s, c).empty());
  TensorSpec& labels = *c.find_tensor("labels");
  labels.set[3] = std::int64_t{256 + 4};  // 4 once stored in eight bits
  ASSERT_EQ(illegal_values(s, c).size(), 1u);
  EXPECT_EQ(illegal_values(s, c)[0].index, 3);
  labels.dtype = Dtype::uint8;
  EXPECT_TRUE(illegal_values(s, c).empty());
  labels.set[3] = std::int64_t{-100};  // 156 once stored without a sign: ignore_index is lost
  ASSERT_EQ(illegal_values(s, c).size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(illegal_values(s, c)[0].value), 156);
  labels.set = {{40, std::int64_t{99}}};  // past the end of 32 labels
  EXPECT_TRUE(illegal_values(s, c).empty());
  labels.set = {{1, std::int64_t{99}}};
  labels.layout = Layout::expanded;  // every label is the first one
  EXPECT_TRUE(illegal_values(s, c).empty());
}

// The values are those of IEEE half and of bfloat16's eight bits of precision.
TEST(LegalValues, RoundsAsTheDtypeDoes) {
  EXPECT_EQ(rounded_to(Dtype::float16, 65504), 65504);
  EXPECT_TRUE(std::isinf(rounded_to(Dtype::float16, 65520)));
  EXPECT_EQ(rounded_to(Dtype::float16, 1 + 1e-7), 1);
  EXPECT_EQ(rounded_to(Dtype::bfloat16, 257), 256) << "a tie goes to even";
  EXPECT_EQ(rounded_to(Dtype::bfloat16, 259), 260);
  EXPECT_EQ(rounded_to(Dtype::float32, 16777217), 16777216);
  EXPECT_EQ(rounded_to(Dtype::float64, 16777217), 16777217);
  EXPECT_TRUE(std::isnan(rounded_to(Dtype::bfloat16, std::nan(""))));
}

TEST(Random, StaysInItsRange) {
  Random random(0);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(random.below(1), 0u);
    EXPECT_EQ(random.between(-3, -3), -3);
    const std::int64_t v = random.between(-2, 2);
    EXPECT_TRUE(v >= -2 && v <= 2);
    (void)random.between(INT64_MIN, INT64_MAX);
  }
}

}  // namespace
}  // namespace dsafuzz
