// Legal index ranges from shapes.
#include "repro/contract.h"

#include <gtest/gtest.h>

namespace dsafuzz {
namespace {

TensorSpec tensor(std::string name, std::vector<std::int64_t> shape, Dtype dtype) {
  TensorSpec t;
  t.name = std::move(name);
  for (std::int64_t size : shape) t.shape.push_back(Extent::of(size));
  t.dtype = dtype;
  return t;
}

Argument named(std::string text) { return {"", Value{Name{std::move(text)}}}; }
Argument integer(std::int64_t value, std::string name = "") { return {std::move(name), Value{value}}; }

Case with(Step step) {
  Case c;
  c.scenario = "test";
  c.tensors = {tensor("data", {4, 5}, Dtype::float32), tensor("index", {2, 5}, Dtype::int64),
               tensor("weight", {7, 5}, Dtype::float32)};
  c.steps = {std::move(step)};
  return c;
}

TEST(Contract, BaseNames) {
  struct Row {
    std::string_view op, base;
  };
  for (const Row& row : {Row{"aten::sum.dim_IntList", "sum"}, Row{"aten::scatter_", "scatter"}, Row{"relu", "relu"},
                         Row{"", ""}, Row{"_", "_"}, Row{"aten::_embedding_bag", "_embedding_bag"}}) {
    EXPECT_EQ(base_name(row.op), row.base);
  }
}

TEST(Contract, LegalRanges) {
  struct Row {
    const char* what;
    Step step;
    std::int64_t from, to;
    std::vector<std::int64_t> also;
  };
  const Row rows[] = {
      {"classes are axis 1", {{"y"}, "aten::cross_entropy_loss", {named("data"), named("index")}}, 0, 5, {-100}},
      {"ignore_index by name",
       {{"y"}, "aten::nll_loss_nd", {named("data"), named("index"), integer(-1, "ignore_index")}},
       0,
       5,
       {-1}},
      {"rows", {{"y"}, "aten::embedding", {named("data"), named("index")}}, 0, 4, {}},
      {"dim", {{"y"}, "aten::gather", {named("data"), integer(1), named("index")}}, 0, 5, {}},
      {"dim from the end", {{"y"}, "aten::gather", {named("data"), integer(-2), named("index")}}, 0, 4, {}},
      {"negative is legal", {{"y"}, "aten::index_fill_", {named("data"), integer(0), named("index")}}, -4, 4, {}},
      {"all elements", {{"y"}, "aten::take", {named("data"), named("index")}}, -20, 20, {}},
      {"a list",
       {{"y"}, "aten::index.Tensor", {named("data"), {"", Value{List{Value{}, Value{Name{"index"}}}}}}},
       -5,
       5,
       {}},
      {"a count", {{"y"}, "aten::one_hot", {named("index"), integer(3)}}, 0, 3, {}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const Case c = with(row.step);
    const auto uses = index_uses(c, c.steps[0]);
    ASSERT_EQ(uses.size(), 1u);
    EXPECT_EQ(uses[0].from, row.from);
    EXPECT_EQ(uses[0].to, row.to);
    EXPECT_EQ(uses[0].also, row.also);
  }
}

TEST(Contract, NothingIsClaimedWithoutKnowledge) {
  const Step steps[] = {
      {{"y"}, "aten::relu", {named("data")}},
      {{"y"}, "aten::embedding", {}},
      {{"y"}, "aten::embedding", {named("nowhere"), named("index")}},
      {{"y"}, "aten::embedding", {named("data"), named("data")}},            // floating index
      {{"y"}, "aten::gather", {named("data"), integer(2), named("index")}},  // no such axis
      {{"y"}, "aten::gather", {named("data"), integer(1LL << 40), named("index")}},
      {{"y"}, "aten::one_hot", {named("index")}},  // decided by the values
  };
  for (const Step& step : steps) {
    const Case c = with(step);
    EXPECT_TRUE(index_uses(c, c.steps[0]).empty()) << step.op;
  }
}

TEST(Contract, ShapesFollowTheSteps) {
  Case c = with({{"h"}, "aten::linear", {named("data"), named("weight")}});
  c.steps.push_back({{"p"}, "aten::log_softmax", {named("h"), integer(1)}});
  c.steps.push_back({{"q"}, "aten::unheard_of", {named("p")}});
  const auto shapes = known_shapes(c);
  EXPECT_EQ(shapes.at("h"), (std::vector<std::int64_t>{4, 7}));
  EXPECT_EQ(shapes.at("p"), (std::vector<std::int64_t>{4, 7}));
  EXPECT_FALSE(shapes.contains("q"));
}

TEST(Contract, Offenders) {
  Case c = with({{"y"}, "aten::cross_entropy_loss", {named("data"), named("index")}});
  c.tensors[1].set[3] = std::int64_t{-100};
  EXPECT_FALSE(first_offender(c, index_uses(c, c.steps[0])[0]));
  c.tensors[1].set[7] = std::int64_t{5};
  c.tensors[1].set[8] = std::int64_t{-1};
  const auto offender = first_offender(c, index_uses(c, c.steps[0])[0]);
  ASSERT_TRUE(offender);
  EXPECT_EQ(offender->index, 7);
  EXPECT_EQ(offender->value, 5);
}

// A tensor too large to be written out is searched where the case sets elements.
TEST(Contract, LargeTensorsAreNotWrittenOut) {
  Case c = with({{"y"}, "aten::embedding", {named("data"), named("index")}});
  c.tensors[1].shape = {Extent::of(kSearchLimit + 1)};
  c.tensors[1].fill.constant = std::int64_t{99};
  EXPECT_FALSE(first_offender(c, index_uses(c, c.steps[0])[0]));
  c.tensors[1].set[kSearchLimit] = std::int64_t{4};
  c.tensors[1].set[kSearchLimit + 1] = std::int64_t{5};  // past the end
  const auto offender = first_offender(c, index_uses(c, c.steps[0])[0]);
  ASSERT_TRUE(offender);
  EXPECT_EQ(offender->index, kSearchLimit);
}

}  // namespace
}  // namespace dsafuzz
