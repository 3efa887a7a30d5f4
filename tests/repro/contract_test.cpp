// The table of contracts: each row with values that are legal and values that are not, and why.
#include "repro/contract.h"

#include <gtest/gtest.h>

#include <set>

#include "repro/breach.h"
#include "repro/case_text.h"

namespace dsafuzz {
namespace {

Case parsed(const std::string& tensors, const std::string& step, const std::string& shapes = "{n: 4}") {
  std::string text = "case: c\nshapes: " + shapes + "\ntensors:\n  " + tensors + "\nsteps:\n  - " + step + "\n";
  auto c = parse_case(text, "c.yaml");
  EXPECT_TRUE(c) << c.error().text() << "\n" << text;
  return c.value_or(Case{});
}

// `x` stands for the tensor under contract, or {} in the step for a number.
struct Example {
  const char *op, *argument;
  const char* x;       // "[2], int64": its shape and dtype
  const char* others;  // further tensors
  const char* step;
  const char *legal, *illegal;  // fills of x
  const char* rule;             // what the illegal one breaks
  const char* reason;           // who says that it is illegal: the CPU's message, or the documentation
};

const Example kExamples[] = {
#include "contract_examples.inc"
};

Case case_of(const Example& example, const char* fill) {
  const std::string x(example.x);
  const std::size_t cut = x.rfind(", ");
  std::string tensors = "x: {shape: " + x.substr(0, cut) + ", dtype: " + x.substr(cut + 2) + ", fill: " + fill + "}";
  if (*example.others) tensors += std::string("\n  ") + example.others;
  std::string step(example.step);
  if (const std::size_t gap = step.find("{}"); gap != std::string::npos) step.replace(gap, 2, fill);
  return parsed(tensors, step);
}

TEST(ContractTable, EveryRowHasALegalAndAnIllegalExample) {
  std::set<const ContractRow*> seen;
  for (const Example& example : kExamples) {
    SCOPED_TRACE(std::string(example.op) + " " + example.argument + ": " + example.reason);
    const Case good = case_of(example, example.legal);
    const auto none = first_breach(good);
    EXPECT_FALSE(none) << none->text();
    const Case bad = case_of(example, example.illegal);
    const auto breach = first_breach(bad);
    if (!breach) {
      ADD_FAILURE() << "not found";
      continue;
    }
    EXPECT_EQ(breach->use.row->op, example.op);
    EXPECT_EQ(breach->condition(), std::string(example.argument) + ": " + example.rule);
    EXPECT_FALSE(breach->use.row->source.empty());
    seen.insert(breach->use.row);
  }
  for (const ContractRow* row : contract_rows()) {
    EXPECT_TRUE(seen.contains(row)) << "no example of " << row->op << " " << row->argument << " at " << row->at;
  }
}

// Inputs that were blamed wrongly in public reports, and others that only look illegal.
TEST(ContractTable, Controls) {
  struct Row {
    const char *what, *tensors, *step;
  };
  const std::string scores = "s: {shape: [2, 3]}\n  ";
  for (const Row& row : {
           Row{"ignore_index by default", "t: {shape: [2], dtype: int64, fill: [-100, 1]}",
               "y = aten::cross_entropy_loss(s, t)"},
           Row{"an ignore_index of 255", "t: {shape: [2], dtype: int64, fill: [255, 1]}",
               "y = aten::cross_entropy_loss(s, t, ignore_index=255)"},
           Row{"255 in uint8", "t: {shape: [2], dtype: uint8, fill: [255, 1]}",
               "y = aten::nll_loss(s, t, none, mean, 255)"},
           Row{"a probability for each class is no label", "t: {shape: [2, 3], fill: 7}",
               "y = aten::cross_entropy_loss(s, t)"},
           Row{"ignored in backward too", "t: {shape: [2], dtype: int64, fill: [-1, 1]}",
               "y = aten::nll_loss_backward(s, s, t, none, mean, -1, s)"},
           Row{"negative indices", "t: {shape: [2], dtype: int64, fill: [-1, -2]}", "y = aten::index(s, [t])"},
           Row{"a mask is no index", "t: {shape: [2], dtype: uint8, fill: 200}", "y = aten::index(s, [t])"},
           Row{"what follows a mask is at another axis",
               "m: {shape: [2, 3], dtype: bool, fill: 1}\n  t: {shape: [6], dtype: int64, fill: 50}",
               "y = aten::index(s, [m, t])"},
           Row{"an index of the second axis", "t: {shape: [2], dtype: int64, fill: 2}",
               "y = aten::index(s, [none, t])"},
           Row{"the slices of an expanded target but the first are never read",
               "t: {shape: [2], dtype: int64, fill: [1, 50], layout: expanded}", "y = aten::nll_loss(s, t)"},
           Row{"no targets at all", "t: {shape: [0], dtype: int64, fill: 50}\n  u: {shape: [0, 3]}",
               "y = aten::nll_loss(u, t)"},
           Row{"empty CTC targets", "l: {shape: [4, 2, 3]}\n  t: {shape: [2, 0], dtype: int64}",
               "y = aten::ctc_loss.IntList(l, t, [4, 4], [0, 0])"},
           Row{"CTC padding behind the labels",
               "l: {shape: [4, 2, 3]}\n  t: {shape: [2, 2], dtype: int64, fill: [1, 99]}",
               "y = aten::ctc_loss.IntList(l, t, [4, 4], [1, 1])"},
           Row{"a padding row of the table", "t: {shape: [2], dtype: int64, fill: [0, 1]}",
               "y = aten::embedding(s, t, padding_idx=0)"},
           Row{"no gradient for padding", "t: {shape: [2], dtype: int64, fill: [-1, 1]}",
               "y = aten::embedding_dense_backward(s, t, 2, -1, false)"},
           Row{"infinity is a number for normal", "t: {shape: [2], fill: .inf}",
               "y = aten::normal.Tensor_Tensor(t, t)"},
           Row{"normal_ has its mean there", "t: {shape: [2]}", "y = aten::normal_(t, -5.0, 1.0)"},
           Row{"bernoulli_ overwrites", "t: {shape: [2], fill: 7}", "y = aten::bernoulli_(t)"},
           Row{"bernoulli with a number ignores the tensor", "t: {shape: [2], fill: 7}",
               "y = aten::bernoulli.p(t, 0.5)"},
           Row{"floating division by zero", "t: {shape: [2], fill: 0}", "y = aten::floor_divide(t, t)"},
           Row{"true division of integers", "t: {shape: [2], dtype: int64, fill: 0}", "y = aten::div.Tensor(t, t)"},
           Row{"rows without elements", "t: {shape: [2], dtype: int64, fill: 9}\n  e: {shape: [4, 0]}",
               "y = aten::index(e, [t])"},
           Row{"one repeat count for all rows", "t: {shape: [1], dtype: int64, fill: 2}",
               "y = aten::repeat_interleave.self_Tensor(s, t, 0, output_size=4)"},
           Row{"an empty first bag",
               "t: {shape: [3], dtype: int64, fill: 1}\n  o: {shape: [3], dtype: int64, fill: [0, 0, 3]}",
               "y = aten::embedding_bag(s, t, o)"},
           Row{"LDL pivots may be negative", "t: {shape: [2], dtype: int32, fill: -1}",
               "y = aten::linalg_ldl_solve(s, t, s)"},
           Row{"a scalar condition that is NaN", "t: {shape: [], fill: .nan}", "aten::_assert_async(t)"},
           Row{"a probability that rounds to 1", "t: {shape: [1], dtype: float16, fill: 1.0001}",
               "y = aten::bernoulli(t)"},
       }) {
    SCOPED_TRACE(row.what);
    const auto breach = first_breach(parsed(scores + row.tensors, row.step));
    EXPECT_FALSE(breach) << breach->text();
  }
}

// What a step computes is not in the case: nothing is said of it.
TEST(ContractTable, NothingIsClaimedWithoutKnowledge) {
  struct Row {
    const char *what, *steps;
  };
  for (const Row& row : {
           Row{"no contract", "y = aten::relu(s)"},
           Row{"no indices", "y = aten::embedding(s)"},
           Row{"an unknown table", "y = aten::embedding(nowhere, t)"},
           Row{"a floating index", "y = aten::embedding(s, s)"},
           Row{"no such axis", "y = aten::gather(s, 2, t)"},
           Row{"a far axis", "y = aten::gather(s, 1099511627776, t)"},
           Row{"classes that the values decide", "y = aten::one_hot(t)"},
           Row{"computed", "u = aten::remainder.Scalar(t, 3)\n  - y = aten::embedding(s, u)"},
           Row{"narrowed", "u = aten::to(t, int32)\n  - y = aten::embedding(s, u)"},
           Row{"written to before", "aten::clamp_(t, 0, 1)\n  - y = aten::embedding(s, t)"},
           Row{"written to through a view",
               "u = aten::view(t, [-1])\n  - aten::zero_(u)\n  - y = aten::embedding(s, t)"},
           Row{"rows of unknown number", "w = aten::unheard_of(s)\n  - y = aten::embedding(w, t)"},
       }) {
    SCOPED_TRACE(row.what);
    const auto breach =
        first_breach(parsed("s: {shape: [2, 3]}\n  t: {shape: [2], dtype: int64, fill: 4294967297}", row.steps));
    EXPECT_FALSE(breach) << breach->text();
  }
}

TEST(ContractTable, ABreachIsFoundThroughCopiesAndShapes) {
  for (const char* steps : {
           "u = aten::to(t, int64)\n  - y = aten::embedding(s, u)",
           "u = aten::reshape(t, [-1, 1])\n  - y = aten::embedding(s, u)",
           "u, order = aten::sort(t)\n  - y = aten::_convert_indices_from_coo_to_csr(u, n)",
           "h = aten::linear(s, w)\n  - p = aten::log_softmax.int(h, 1)\n  - y = aten::nll_loss(p, t)",
           "h = aten::conv2d(image, kernel, padding=1)\n  - f = aten::flatten(h, 1)\n  - y = aten::nll_loss(f, t)",
           "y = aten::embedding(s, t)\n  - aten::zero_(t)",  // read before it is written
       }) {
    SCOPED_TRACE(steps);
    const auto breach =
        first_breach(parsed("s: {shape: [2, 3]}\n  w: {shape: [5, 3]}\n  t: {shape: [2], dtype: int64, fill: 50}\n  "
                            "image: {shape: [2, 1, 2, 3]}\n  kernel: {shape: [2, 1, 3, 3]}",
                            steps));
    ASSERT_TRUE(breach);
    EXPECT_EQ(breach->use.tensor->name, "t");
    EXPECT_EQ(breach->value, "50");
  }
}

TEST(ContractTable, ARefusedValueIsNamedWithItsSource) {
  const Case c =
      parsed("s: {shape: [2, 3]}\n  t: {shape: [2], dtype: int64, fill: [0, 3]}", "y = aten::nll_loss(s, t)");
  const auto breach = first_breach(c);
  ASSERT_TRUE(breach);
  EXPECT_EQ(breach->index, 1);
  EXPECT_EQ(breach->use.bounds.also, (std::vector<std::int64_t>{-100}));
  EXPECT_EQ(breach->text(), "target: not in [0, classes) (torch.nn.NLLLoss, Shape: Target); t[1] is 3");
}

TEST(ContractTable, NumbersInTheCall) {
  EXPECT_EQ(first_breach(parsed("s: {shape: [2]}", "aten::geometric_(s, 1.5)"))->condition(), "p: not in [0, 1]");
  EXPECT_FALSE(first_breach(parsed("s: {shape: [2]}", "aten::geometric_(s, 0.5)")));
}

// A tensor too large to be written out is searched where the case sets elements.
TEST(ContractTable, LargeTensorsAreNotWrittenOut) {
  Case c = parsed("s: {shape: [4, 3]}\n  t: {shape: [1048577], dtype: int64, fill: 99}", "y = aten::embedding(s, t)");
  EXPECT_FALSE(first_breach(c));
  c.tensors[1].set[kSearchLimit] = std::int64_t{4};
  c.tensors[1].set[kSearchLimit + 1] = std::int64_t{5};  // past the end
  const auto breach = first_breach(c);
  ASSERT_TRUE(breach);
  EXPECT_EQ(breach->index, kSearchLimit);
}

TEST(Contract, BaseNames) {
  struct Row {
    std::string_view op, base;
    bool in_place;
  };
  for (const Row& row :
       {Row{"aten::sum.dim_IntList", "sum", false}, Row{"aten::scatter_", "scatter", true}, Row{"relu", "relu", false},
        Row{"", "", false}, Row{"_", "_", false}, Row{"aten::_embedding_bag", "_embedding_bag", false},
        Row{"aten::index_put_.hacked_twin", "index_put", true}}) {
    EXPECT_EQ(base_name(row.op), row.base);
    EXPECT_EQ(writes_in_place(row.op), row.in_place) << row.op;
  }
}

}  // namespace
}  // namespace dsafuzz
