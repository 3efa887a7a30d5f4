// What is taken out of a case, and what is left where something needs it. "Needs" is a function of the case here.
#include "repro/redact_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "repro/case_text.h"
#include "repro/fill.h"
#include "repro/neutral_names.h"

namespace dsafuzz {
namespace {

using Kept = RedactedTensor::Kept;

// 123.456 and 0.789 are the owner's, in every shape that a case can hold them.
constexpr const char* kCase = R"(case: clinic
seed: 5
shapes: {patients: 4, kinds: 3}
tensors:
  ages: {shape: [patients, kinds], dtype: float32, fill: [0.789, 123.456, 0.5, -123.456]}
  doses: {shape: [patients], dtype: float16, fill: randn, set: {1: 123.456, 9: 0.789}}
  level: {shape: [2 * patients], dtype: float64, fill: 123.456}
  spread: {shape: [kinds], dtype: float32, fill: {uniform: [0.789, 123.456]}}
  plain: {shape: [kinds], dtype: float32, fill: 1}
  codes: {shape: [patients], dtype: int64, fill: [0, 1, 2, 77]}
steps:
  - risk = aten::mul(ages, spread)
  - loss = aten::nll_loss(risk, codes, reduction=mean)
)";

Case a_case() { return *parse_case(kCase, "case.yaml"); }

// The values of the case's i-th tensor, whatever it is called.
std::vector<double> values(const Case& c, std::size_t i) {
  std::vector<double> out;
  for (const Number& n : contents(c, c.tensors[i])) out.push_back(as_double(n));
  return out;
}

TEST(RedactCaseTest, NothingPrivateIsLeftWhereNothingIsNeeded) {
  const Case original = a_case();
  const RedactedCase r = redacted(original, [](const Case&) { return true; }, 100);
  EXPECT_EQ(r.executions, 1) << "one run of the bare case tells all";
  EXPECT_TRUE(validate(r.the_case));
  const std::string text = to_yaml(r.the_case);
  for (const char* mine : {"123.456", "0.789", "ages", "doses", "level", "spread", "codes", "risk", "patients"}) {
    EXPECT_EQ(text.find(mine), std::string::npos) << mine << " in\n" << text;
  }
  EXPECT_EQ(r.tensors.size(), 4u) << "a tensor of ones holds nothing of anybody's";
  EXPECT_EQ(r.integers, std::vector<std::string>{"t5"});
  EXPECT_EQ(values(r.the_case, 5), (std::vector<double>{0, 1, 2, 77})) << "integers stay";
  for (std::size_t i = 0; i < original.tensors.size(); ++i) {
    EXPECT_EQ(r.the_case.tensors[i].dtype, original.tensors[i].dtype);
    EXPECT_EQ(concrete_shape(r.the_case.tensors[i], r.the_case.shapes),
              concrete_shape(original.tensors[i], original.shapes));
  }
  EXPECT_NE(text.find("r1 = aten::nll_loss(r0, t5, reduction=mean)"), std::string::npos) << text;
  EXPECT_EQ(to_yaml(redacted(original, [](const Case&) { return true; }, 100).the_case), text) << "the same bytes";
}

struct Row {
  const char* name;
  std::size_t tensor;
  StillShows needs;
  Kept how;
  std::int64_t kept;
  std::vector<double> left;  // expected among the tensor's values
};

TEST(RedactCaseTest, KeepsTheSmallestPartThatIsNeeded) {
  const auto any = [](std::size_t tensor, auto is_so) {
    return [=](const Case& c) { return std::ranges::any_of(values(c, tensor), is_so); };
  };
  for (const Row& row : {
           Row{"one above 1", 0, any(0, [](double v) { return v > 1; }), Kept::kinds, 1, {2}},
           Row{"one below 0", 0, any(0, [](double v) { return v < 0; }), Kept::kinds, 1, {-1}},
           Row{"a large one", 0, any(0, [](double v) { return v > 100; }), Kept::values, 1, {123.456}},
           Row{"an exact one", 0, any(0, [](double v) { return v == 0.789; }), Kept::values, 1, {0.789}},
           Row{"an element on top", 1, any(1, [](double v) { return v > 100; }), Kept::values, 1, {123.456}},
           Row{"all alike, above 1", 2, any(2, [](double v) { return v > 1; }), Kept::kinds, 8, {2}},
           Row{"a constant", 2, any(2, [](double v) { return v > 100; }), Kept::fill, 0, {123.456}},
       }) {
    SCOPED_TRACE(row.name);
    const RedactedCase r = redacted(a_case(), row.needs, 200);
    EXPECT_TRUE(row.needs(r.the_case));
    EXPECT_TRUE(r.renamed);
    for (std::size_t i = 0; i < r.tensors.size(); ++i) {
      EXPECT_EQ(r.tensors[i].how, i == row.tensor ? row.how : Kept::nothing) << r.tensors[i].was;
    }
    EXPECT_EQ(r.tensors[row.tensor].kept, row.kept);
    const auto left = values(r.the_case, row.tensor);
    for (const double value : row.left) EXPECT_TRUE(std::ranges::find(left, value) != left.end()) << value;
    EXPECT_EQ(to_yaml(r.the_case).find("123.456") != std::string::npos, row.left[0] == 123.456);
  }
}

TEST(RedactCaseTest, NamesStayWhereTheyAreNeededAndThatIsSaid) {
  const RedactedCase r = redacted(a_case(), [](const Case& c) { return c.find_tensor("codes") != nullptr; }, 100);
  EXPECT_FALSE(r.renamed);
  EXPECT_EQ(to_yaml(r.the_case).find("123.456"), std::string::npos);
  const auto said = sentences(r);
  EXPECT_TRUE(std::ranges::any_of(said, [](const std::string& s) { return s.contains("the bug needs them"); }));
}

TEST(RedactCaseTest, WhatCannotBeShownAgainIsTheOriginal) {
  for (const int executions : {0, 1, 50}) {
    EXPECT_EQ(redacted(a_case(), [](const Case&) { return false; }, executions).the_case, a_case()) << executions;
  }
}

TEST(RedactCaseTest, TheNumberOfRunsIsBounded) {
  int runs = 0;
  const Case original = a_case();
  const RedactedCase r = redacted(
      original,
      [&](const Case& c) {
        ++runs;
        return values(c, 0) == values(original, 0);
      },
      7);
  EXPECT_LE(runs, 7);
  EXPECT_EQ(values(r.the_case, 0), values(original, 0));
}

TEST(NeutralNamesTest, WordsOfTheProgramStay) {
  Case c = a_case();
  c.steps[0] = *parse_step("patients_ = aten::view(ages, [kinds, patients, [ages, mean]], text=\"ages\")");
  const Case neutral = with_neutral_names(c);
  EXPECT_EQ(to_text(neutral.steps[0]), "r0 = aten::view(t0, [n0, n1, [t0, mean]], text=\"ages\")");
  EXPECT_EQ(neutral.tensors[2].shape[0].text, "2 * n1");
}

}  // namespace
}  // namespace dsafuzz
