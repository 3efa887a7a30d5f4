// Advice: the sentence names the element, the guard is Python over the case's own names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "repro/diagnose.h"

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

Case cross_entropy(Dtype labels) {
  Case c;
  c.scenario = "test";
  c.tensors = {tensor("logits", {2, 5}, Dtype::float32), tensor("labels", {2}, labels)};
  c.steps = {{{"loss"}, "aten::cross_entropy_loss", {named("logits"), named("labels")}}};
  return c;
}

Diagnosis diagnosis(Verdict verdict, std::string op, std::string kernel, std::string condition) {
  Diagnosis d;
  d.signature = {verdict, std::move(op), "", std::move(kernel), std::move(condition)};
  return d;
}

TEST(Advice, NamesTheLabelOutOfRange) {
  Case c = cross_entropy(Dtype::int64);
  c.tensors[1].set[1] = std::int64_t{5};
  for (Verdict verdict : {Verdict::device_assert, Verdict::silent}) {
    // An asynchronous error may be booked on a later step: the label is found all the same.
    for (const char* op : {"aten::cross_entropy_loss", "synchronize", "backward"}) {
      SCOPED_TRACE(op);
      const Advice advice = advise(c, diagnosis(verdict, op, "nll", "t >= 0 && t < n_classes"));
      EXPECT_EQ(advice.cause, "labels[1] is 5, but cross_entropy_loss needs values that lie in [0, 5) or be -100.");
      EXPECT_EQ(advice.guard,
                "assert (((labels >= 0) & (labels < logits.shape[1])) | (labels == -100)).all(), "
                "\"labels must lie in [0, 5) or be -100\"");
    }
  }
}

TEST(Advice, IndicesOfAnEmbedding) {
  Case c;
  c.scenario = "test";
  c.tensors = {tensor("table.weight", {3, 2}, Dtype::float32), tensor("class", {2, 2}, Dtype::int64)};
  c.tensors[1].set[3] = std::int64_t{-1};
  c.steps = {{{"y"}, "aten::embedding", {named("table.weight"), named("class")}}};
  const Advice advice =
      advise(c, diagnosis(Verdict::device_assert, "aten::embedding", "", "srcIndex < srcSelectDimSize"));
  EXPECT_EQ(advice.cause, "class_[1, 1] is -1, but embedding needs values that lie in [0, 3).");
  EXPECT_EQ(advice.guard,
            "assert ((class_ >= 0) & (class_ < table_weight.shape[0])).all(), \"class_ must lie in [0, 3)\"");
}

TEST(Advice, Probabilities) {
  Case c;
  c.scenario = "test";
  c.tensors = {tensor("p", {2}, Dtype::float32), tensor("target", {2}, Dtype::float32)};
  c.tensors[0].set[1] = 1.5;
  c.steps = {{{"loss"}, "aten::binary_cross_entropy", {named("p"), named("target")}}};
  const Diagnosis d = diagnosis(Verdict::device_assert, "aten::binary_cross_entropy", "operator()",
                                "input_val >= zero && input_val <= one");
  EXPECT_EQ(advise(c, d).cause, "p[1] is 1.5, which is no probability.");
  EXPECT_EQ(advise(c, d).guard, "assert ((p >= 0) & (p <= 1)).all(), \"p must lie in [0, 1]\"");
  c.tensors[0].set[1] = std::nan("");
  EXPECT_EQ(advise(c, d).cause, "p[1] is nan, which is no probability.");
  // Logits may be any number: what is wrong with their sigmoid is not known without running it.
  c.tensors[0].set[1] = -3.0;
  c.steps.insert(c.steps.begin(), {{"s"}, "aten::sigmoid", {named("p")}});
  c.steps[1].arguments[0] = named("s");
  EXPECT_EQ(advise(c, d).cause.find("p["), std::string::npos) << advise(c, d).cause;
}

TEST(Advice, CastOfLabels) {
  const Advice advice = advise(
      cross_entropy(Dtype::float32),
      diagnosis(Verdict::host_reject, "aten::cross_entropy_loss", "", "expected scalar type Long but found Float"));
  EXPECT_EQ(advice.cause, "labels is float32, but cross_entropy_loss takes class indices of int64.");
  EXPECT_EQ(advice.guard, "assert labels.dtype == torch.int64, \"labels must be int64\"");
}

TEST(Advice, MixedDtypesAndDevices) {
  Case c;
  c.scenario = "test";
  c.tensors = {tensor("a", {2, 2}, Dtype::float32), tensor("b", {2, 2}, Dtype::float16)};
  c.tensors[1].device = 1;
  c.steps = {{{"y"}, "aten::mm", {named("a"), named("b")}}};
  EXPECT_EQ(
      advise(c, diagnosis(Verdict::host_reject, "aten::mm", "", "expected m1 and m2 to have the same dtype")).guard,
      "assert a.dtype == b.dtype, \"a and b must have the same dtype\"");
  EXPECT_EQ(
      advise(c, diagnosis(Verdict::host_reject, "aten::mm", "", "Expected all tensors to be on the same device")).guard,
      "assert a.device == b.device, \"a and b must have the same device\"");
}

TEST(Advice, MemoryFaults) {
  const auto cause = [](std::string condition) {
    return advise(Case{}, diagnosis(Verdict::memory_fault, "custom::scale", "scale", std::move(condition))).cause;
  };
  EXPECT_EQ(cause("Invalid __global__ write of size 4 bytes, after the allocation"),
            "Kernel scale touches memory outside its tensors: Invalid __global__ write of size 4 bytes, after the "
            "allocation.");
  EXPECT_TRUE(cause("Invalid __global__ read of size 4 bytes, in a freed allocation")
                  .starts_with("Kernel scale uses memory that was freed before"));
  EXPECT_EQ(
      cause("Invalid __global__ read of size 4 bytes, on another device"),
      "Kernel scale runs on one device and touches memory of another: Invalid __global__ read of size 4 bytes, on "
      "another device.");
  // Titles as compute-sanitizer prints them.
  EXPECT_TRUE(cause("Error: Race reported between Write access at scale").contains("without an order between them"));
  EXPECT_TRUE(cause("Uninitialized __global__ memory read of size 4 bytes").contains("nothing has written"));
  EXPECT_TRUE(cause("Barrier error detected. Divergent thread(s) in block.").contains("not every thread"));
  EXPECT_TRUE(
      cause("Invalid __global__ read of size 16 bytes, misaligned").starts_with("Kernel scale uses a misaligned"));
}

TEST(Advice, EveryVerdictHasTwoSentences) {
  for (Verdict verdict : kVerdicts) {
    SCOPED_TRACE(to_text(verdict));
    for (const char* condition : {"", "something unheard of"}) {
      const Advice advice = advise(Case{}, diagnosis(verdict, "aten::op", "", condition));
      if (verdict == Verdict::ok) {
        EXPECT_EQ(advice, Advice{});
        continue;
      }
      EXPECT_TRUE(advice.cause.ends_with('.'));
      EXPECT_TRUE(advice.remedy.ends_with('.'));
      EXPECT_EQ(std::ranges::count(advice.remedy, '\n') + std::ranges::count(advice.cause, '\n'), 0);
    }
  }
}

// An invalid case has no contents to look at, and gets the general text.
TEST(Advice, AnInvalidCaseIsNoTrap) {
  Case c = cross_entropy(Dtype::int64);
  c.tensors[1].shape = {Extent{"unknown_variable"}};
  const Advice advice = advise(c, diagnosis(Verdict::device_assert, "aten::cross_entropy_loss", "nll", "t < n"));
  EXPECT_EQ(advice.cause, "Kernel nll stopped at a failed device assert with \"t < n\".");
  EXPECT_EQ(advice.guard, "");
}

}  // namespace
}  // namespace dsafuzz
