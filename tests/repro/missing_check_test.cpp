// The class of each row comes from what PyTorch's documentation says the argument is, not from what we print.
#include "repro/missing_check.h"

#include <gtest/gtest.h>

#include "tests/repro/emit_example.h"

namespace dsafuzz {
namespace {

constexpr const char* kHead =
    "case: c\nseed: 0\nshapes: {}\ntensors:\n"
    "  x: {shape: [2, 3], dtype: float32, fill: 0}\n"
    "  big: {shape: [2], dtype: int64, fill: 7}\n"
    "  falls: {shape: [2], dtype: int64, fill: [1, 0]}\n"
    "  two: {shape: [2, 3], dtype: float32, fill: 2}\n"
    "  less: {shape: [2, 3], dtype: float32, fill: -1}\n"
    "  zero: {shape: [2], dtype: int64, fill: 0}\n"
    "steps:\n  - out = ";

TEST(MissingCheck, FollowsTheContractThatIsBroken) {
  struct Row {
    const char* step;
    const char* name;
  };
  const Row rows[] = {
      {"aten::cross_entropy_loss(x, big)", "class_label"},
      {"aten::multi_margin_loss(x, big)", "class_label"},
      {"aten::one_hot(big, 4)", "class_label"},
      {"aten::index_select(x, 0, big)", "index"},
      {"aten::embedding(x, big)", "index"},
      {"aten::index.Tensor(x, [big])", "index"},
      {"aten::binary_cross_entropy(two, x)", "probability"},
      {"aten::bernoulli(two)", "probability"},
      {"aten::poisson(less)", "distribution_parameter"},
      {"aten::multinomial(less, 1)", "weights"},
      {"aten::embedding_bag(x, zero, falls)", "offsets"},
      {"aten::floor_divide(big, zero)", "divisor"},
      {"aten::_assert_async(zero)", "own_assertion"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.step);
    const Case c = case_of(std::string(kHead) + row.step + "\n");
    Signature s{Verdict::device_assert, std::string(row.step, std::string(row.step).find('(')), "", "", "any"};
    EXPECT_EQ(missing_check(c, s).name, row.name);
    s.verdict = Verdict::silent;
    EXPECT_EQ(missing_check(c, s).name, row.name);
  }
}

TEST(MissingCheck, FollowsTheSignatureWhereNoContractIsKnownToBeBroken) {
  const Case legal = case_of(std::string(kHead) + "aten::relu(x)\n");
  struct Row {
    Verdict verdict;
    const char* file;
    const char* condition;
    const char* name;
  };
  const Row rows[] = {
      {Verdict::device_assert, "aten/src/ATen/native/cuda/Loss.cu", "t >= 0 && t < n_classes", "class_label"},
      {Verdict::device_assert, "aten/src/ATen/native/cuda/Indexing.cu", "srcIndex < srcSelectDimSize", "index"},
      {Verdict::device_assert, "aten/src/ATen/native/cuda/EmbeddingBag.cu", "end >= begin", "offsets"},
      {Verdict::memory_fault, "", "Invalid __global__ read of size 4 bytes, after the allocation", "memory_bounds"},
      {Verdict::memory_fault, "", "Invalid __global__ read of size 4 bytes, inside memory that was freed",
       "memory_lifetime"},
      {Verdict::memory_fault, "", "Invalid __global__ read of size 8 bytes, misaligned", "memory_alignment"},
      {Verdict::memory_fault, "", "Race reported between Write access and Read access", "race"},
      {Verdict::memory_fault, "", "Uninitialized __global__ memory read", "unwritten_memory"},
      {Verdict::memory_fault, "", "Barrier error detected. Divergent thread(s) in block", "barrier"},
      {Verdict::wrong_result, "", "", "wrong_result"},
      {Verdict::hang, "", "", "no_end"},
      {Verdict::crash, "", "", "death"},
      {Verdict::host_reject, "", "expected scalar type Half but found Float", "dtype"},
      {Verdict::host_reject, "", "Expected all tensors to be on the same device", "device"},
      // The tensor's name in it says nothing about its values.
      {Verdict::host_reject, "", "Expected all tensors to be on the same device, but got index is on cuda:#", "device"},
      {Verdict::host_reject, "", "Expected all tensors to be on the same device, but got target is on cuda:#", "device"},
      {Verdict::host_reject, "", "words that nobody knows", "other"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.condition);
    EXPECT_EQ(missing_check(legal, {row.verdict, "aten::unknown", row.file, "", row.condition}).name, row.name);
  }
  EXPECT_EQ(find_missing_check("nothing"), nullptr);
  EXPECT_EQ(find_missing_check("race")->name, "race");
}

}  // namespace
}  // namespace dsafuzz
