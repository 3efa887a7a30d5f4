// The prevention list: what a case answers without being run, and how the list is said.
#include "repro/checklist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "repro/case_text.h"
#include "repro/checklist_case.h"

namespace dsafuzz {
namespace {

using State = ChecklistItem::State;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Case case_of(const std::string& tensors, const std::string& step, const std::string& more = {}) {
  const auto c = parse_case("case: example\nseed: 1\n" + more + "tensors:\n" + tensors + "steps:\n  - " + step + "\n",
                            "example.yaml");
  EXPECT_TRUE(c) << (c ? "" : c.error().text());
  return c.value_or(Case{});
}

// Expected from the operators' documentation; positions count from 0 along each axis.
struct RangeRow {
  const char* name;
  std::string tensors, step;
  std::vector<std::string> failed;
  std::size_t checked, unchecked;
};

TEST(Checklist, data_ranges) {
  const std::string logits = "  logits: {shape: [2, 3, 2], dtype: float32, fill: 0}\n";
  const std::string loss = "loss = aten::cross_entropy_loss(logits, labels)";
  const std::vector<RangeRow> rows{
      {"legal", logits + "  labels: {shape: [2, 2], dtype: int64, fill: [0, 2, -100, 1]}\n", loss, {}, 2, 0},
      {"two of four",
       logits + "  labels: {shape: [2, 2], dtype: int64, fill: [0, 2, 3, -1]}\n",
       loss,
       {"labels[1, 0] is 3, but values must lie in [0, 3) or be -100 (2 of 4 elements do not), for "
        "cross_entropy_loss's target"},
       1,
       0},
      {"together",
       "  table: {shape: [4, 2], dtype: float32, fill: 0}\n  indices: {shape: [3], dtype: int64, fill: 1}\n"
       "  offsets: {shape: [3], dtype: int64, fill: [0, 2, 1]}\n",
       "out = aten::embedding_bag(table, indices, offsets)",
       {"offsets[2]: 1 decreases; values must start at 0, never decrease and end at most at 3, for embedding_bag's "
        "offsets"},
       2,
       0},
      {"no contract",
       "  x: {shape: [2], dtype: float32, fill: [1, .nan]}\n  n: {shape: [2], dtype: int64, fill: 7}\n",
       "y = aten::mul(x, n)",
       {"x[1] is .nan, but values must be finite (1 of 2 elements do not)"},
       0,
       1},
  };
  for (const RangeRow& row : rows) {
    SCOPED_TRACE(row.name);
    const ChecklistItem item = data_ranges(case_of(row.tensors, row.step), {});
    EXPECT_EQ(item.failed, row.failed);
    EXPECT_EQ(item.checked.size(), row.checked);
    EXPECT_EQ(item.unchecked.size(), row.unchecked);
  }
}

TEST(Checklist, a_scenario_s_range_is_said_once) {
  const Case c = case_of(
      "  logits: {shape: [2, 3], dtype: float32, fill: 0}\n  labels: {shape: [2], dtype: int64, fill: [0, 3]}\n",
      "loss = aten::cross_entropy_loss(logits, labels)");
  const ChecklistItem item = data_ranges(c, {{"labels", Bounds{.from = 0, .to = 3, .also = {}}}});
  EXPECT_THAT(item.failed, ElementsAre("labels[1] is 3, but values must lie in [0, 3) (1 of 2 elements do not), as the "
                                       "scenario says"));
}

struct LossRow {
  const char* name;
  std::string input, target, step, failed;  // a part of the one failure; empty: none
};

TEST(Checklist, loss_dimensions) {
  const std::string cross = "loss = aten::cross_entropy_loss(x, y)", bce = "loss = aten::binary_cross_entropy(x, y)";
  const std::vector<LossRow> rows{
      {"rows", "[4, 3], dtype: float32", "[4], dtype: int64", cross, ""},
      {"one sample", "[3], dtype: float32", "[], dtype: int64", cross, ""},
      {"image", "[2, 3, 5, 5], dtype: float32", "[2, 5, 5], dtype: int64", cross, ""},
      {"probabilities", "[4, 3], dtype: float32", "[4, 3], dtype: float32", cross, ""},
      {"batch", "[4, 3], dtype: float32", "[5], dtype: int64", cross, "the target must be of shape (4)"},
      {"image without its height", "[2, 3, 5, 5], dtype: float32", "[2, 5], dtype: int64", cross,
       "the target must be of shape (2, 5, 5)"},
      {"int32", "[4, 3], dtype: float32", "[4], dtype: int32", cross, "class indices must be int64 or uint8"},
      {"no floats for nll", "[4, 3], dtype: float32", "[4], dtype: float32", "loss = aten::nll_loss(x, y)",
       "class indices must be int64 or uint8"},
      {"integer input", "[4, 3], dtype: int64", "[4], dtype: int64", cross, "the input must be floating"},
      {"same", "[4], dtype: float32", "[4], dtype: float32", bce, ""},
      {"not the same", "[4], dtype: float32", "[4, 1], dtype: float32", bce, "the target must be of shape (4)"},
      {"devices", "[4], dtype: float32", "[4], dtype: float32, device: 1", bce, "they lie on different devices"},
      {"ctc", "[6, 2, 4], dtype: float32", "[2, 3], dtype: int64", "loss = aten::ctc_loss(x, y, [6, 6], [3, 3])", ""},
      {"ctc, too many lengths", "[6, 2, 4], dtype: float32", "[2, 3], dtype: int64",
       "loss = aten::ctc_loss(x, y, [6, 6, 6], [3, 3])", "input_lengths holds 3 lengths for 2 samples"},
      {"ctc, rows", "[6, 2, 4], dtype: float32", "[1, 3], dtype: int64", "loss = aten::ctc_loss(x, y, [6, 6], [3, 3])",
       "a row of targets for each of 2 samples"},
  };
  for (const LossRow& row : rows) {
    SCOPED_TRACE(row.name);
    const Case c =
        case_of("  x: {shape: " + row.input + ", fill: 0}\n  y: {shape: " + row.target + ", fill: 0}\n", row.step);
    const ChecklistItem item = loss_dimensions(c, {});
    EXPECT_EQ(item.state(), row.failed.empty() ? State::passed : State::failed);
    if (row.failed.empty()) {
      EXPECT_THAT(item.failed, IsEmpty());
    } else {
      EXPECT_THAT(item.failed, ElementsAre(HasSubstr(row.failed)));
    }
  }
}

TEST(Checklist, shapes_of_results_come_from_the_run) {
  const Case c = case_of("  x: {shape: [2, 3], dtype: float32, fill: 0}\n  y: {shape: [2], dtype: int64, fill: 0}\n",
                         "z = aten::relu(x)\n  - loss = aten::cross_entropy_loss(z, y)");
  EXPECT_EQ(loss_dimensions(c, {}).state(), State::unchecked);
  EXPECT_EQ(loss_dimensions(c, {{"z", Dtype::float32, {2, 3}}}).state(), State::passed);
  EXPECT_EQ(loss_dimensions(c, {{"z", Dtype::float32, {3, 3}}}).state(), State::failed);
}

TEST(Checklist, mixed_dtypes) {
  const std::string tensors =
      "  a: {shape: [2], dtype: float32, fill: 0}\n  b: {shape: [2], dtype: float64, fill: 0}\n"
      "  n: {shape: [2], dtype: int64, fill: 0}\n";
  EXPECT_THAT(mixed_dtypes(case_of(tensors, "c = aten::mul(a, b)"), {}),
              ElementsAre("aten::mul: float32 a, float64 b"));
  EXPECT_THAT(mixed_dtypes(case_of(tensors, "c = aten::mul(a, n)"), {}), IsEmpty());
}

TEST(Checklist, guards_of_both_languages) {
  const Case c = case_of("  w: {shape: [4, 2], dtype: float32, fill: 0}\n  i: {shape: [3], dtype: int64, fill: 1}\n",
                         "out = aten::embedding(w, i)");
  const ChecklistItem item = recommended_guards(c);
  EXPECT_THAT(item.notes,
              ElementsAre(HasSubstr("Python: assert "), HasSubstr("C++: dsafuzz::guard::embedding in place")));
  EXPECT_EQ(recommended_guards(case_of("  x: {shape: [2], dtype: float32, fill: 0}\n", "y = aten::relu(x)")).state(),
            State::unchecked);
}

TEST(Checklist, printed) {
  Checklist list{.file = "a\x1b[31m.yaml", .name = "a", .id = "0123", .device = "vcuda"};
  EXPECT_FALSE(list.has_failed());
  list.items.push_back({.name = "one", .checked = {"x"}, .unchecked = {"y"}});
  list.items.push_back({.name = "two", .unchecked = {"z"}});
  EXPECT_FALSE(list.has_failed());
  list.items.push_back({.name = "three", .checked = {"x"}, .failed = {"<b>\n\x1b[0m \"q\""}});
  EXPECT_TRUE(list.has_failed());
  const std::string text = checklist_text(list);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("passed      one\n    checked x\n    not checked: y\nnot checked two\n"));
  EXPECT_THAT(text, testing::EndsWith("1 passed, 1 failed, 1 not checked\n"));
  const auto json = nlohmann::json::parse(checklist_json(list));
  EXPECT_EQ(json["failed"], true);
  EXPECT_EQ(json["items"][1]["state"], "not checked");
  EXPECT_EQ(json["items"][2]["failed"][0], "<b>\n\x1b[0m \"q\"");
}

}  // namespace
}  // namespace dsafuzz
