#include "repro/case_text.h"

#include <gtest/gtest.h>

#include "tests/repro/example_case.h"

namespace dsafuzz {
namespace {

TEST(CaseText, IsTheCanonicalFormDocumentedInTheHeader) {
  static constexpr char kText[] =
      "case: linear_cross_entropy\n"
      "seed: 42\n"
      "phase: backward\n"
      "shapes: {batch: 1, classes: 1}\n"
      "tensors:\n"
      "  logits: {shape: [batch, classes], dtype: float32, fill: 0}\n"
      "  labels: {shape: [batch], dtype: int64, fill: [1], set: {0: 5}, layout: offset}\n"
      "steps:\n"
      "  - loss = aten::cross_entropy_loss(logits, labels, reduction=mean)\n";
  const auto c = parse_case(kText, "case.yaml");
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_EQ(to_yaml(*c), kText);
  EXPECT_EQ(c->shapes.at("batch"), 1);
  EXPECT_EQ(c->find_tensor("labels")->set.at(0), Number{std::int64_t{5}});
  EXPECT_EQ(c->steps[0].arguments[2].name, "reduction");
}

TEST(CaseText, ParseAndWriteAreInverses) {
  const Case c = example_case();
  const std::string text = to_yaml(c);
  const auto again = parse_case(text, "case.yaml");
  ASSERT_TRUE(again) << again.error().text() << "\n" << text;
  EXPECT_TRUE(*again == c) << text << to_yaml(*again);
  EXPECT_EQ(to_yaml(*again), text);
  EXPECT_EQ(case_id(*again), case_id(c));
}

TEST(CaseText, ShortNamesOfOperatorsAreWrittenOut) {
  const std::string head =
      "case: t\nseed: 1\ntensors:\n  x: {shape: [1, 2], dtype: float32}\n"
      "  y: {shape: [1], dtype: int64}\nsteps:\n  - loss = ";
  const auto brief = parse_case(head + "cross_entropy(x, y)\n", "c.yaml");
  const auto whole = parse_case(head + "aten::cross_entropy_loss(x, y)\n", "c.yaml");
  ASSERT_TRUE(brief && whole);
  EXPECT_EQ(case_id(*brief), case_id(*whole));
  EXPECT_FALSE(parse_case(head + "cross_entropie(x, y)\n", "c.yaml"));
  EXPECT_FALSE(parse_case(head + "model(x)\n", "c.yaml")) << "a case has none";
}

TEST(CaseText, IdChangesWithAnyPart) {
  const Case c = example_case();
  Case other = c;
  other.seed = 43;
  EXPECT_NE(case_id(other), case_id(c));
  other = c;
  other.tensors[0].set[1] = std::int64_t{0};
  EXPECT_NE(case_id(other), case_id(c));
  EXPECT_EQ(case_id(c).size(), 16u);
}

TEST(StepText, ReadsAndWrites) {
  struct Row {
    const char* text;
    const char* canonical;  // null: the same
  };
  static constexpr Row kRows[] = {
      {"aten::relu(x)", nullptr},
      {"y = aten::relu(x)", nullptr},
      {"y=aten::relu( x )", "y = aten::relu(x)"},
      {"a, b = aten::max.dim(x, 1, keepdim=true)", nullptr},
      {"y = aten::index.Tensor(x, [none, i])", nullptr},
      {"y = aten::full([2, 3], 0.5, dtype=float16, device=device)", nullptr},
      {"y = aten::mul.Scalar(x, -.inf)", nullptr},
      {"y = aten::f(x, \"a, (b) \\\" = c\")", nullptr},
      {"y = module:net.pt(x)", nullptr},
      {"y = aten::f()", nullptr},
      {"y = aten::f(x, 1e-7, -3, [[1], []])", "y = aten::f(x, 1e-07, -3, [[1], []])"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.text);
    const auto step = parse_step(row.text);
    ASSERT_TRUE(step) << step.error().text();
    EXPECT_EQ(to_text(*step), row.canonical ? row.canonical : row.text);
  }
}

TEST(StepText, RefusesWithTheColumn) {
  struct Row {
    const char* text;
    const char* column;
  };
  static constexpr Row kRows[] = {
      {"", "col 1"},
      {"aten::relu", "col 11"},
      {"aten::relu(x", "col 13"},
      {"aten::relu(x) y", "col 15"},
      {"= aten::relu(x)", "col 1"},
      {"aten::relu(x,)", "col 14"},
      {"aten::relu(x=)", "col 14"},
      {"aten::relu(99999999999999999999)", "col 12"},
      {"aten::relu(\"x)", "col 15"},
      {"aten::relu([x)", "col 14"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.text);
    const auto step = parse_step(row.text);
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error().where, row.column) << step.error().text();
  }
}

TEST(NumberText, IsShortestAndReadsBack) {
  struct Row {
    Number number;
    const char* text;
  };
  const Row rows[] = {
      {std::int64_t{0}, "0"},
      {std::int64_t{INT64_MIN}, "-9223372036854775808"},
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {0.1, "0.1"},
      {1e-7, "1e-07"},
      {1e300, "1e+300"},
      {__builtin_inf(), ".inf"},
      {-__builtin_inf(), "-.inf"},
      {__builtin_nan(""), ".nan"},
      {9007199254740993.0, "9007199254740992.0"},
  };
  for (const Row& row : rows) EXPECT_EQ(to_text(row.number), row.text);
}

}  // namespace
}  // namespace dsafuzz
