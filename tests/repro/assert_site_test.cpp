// Who may have printed a line: expectations are the rows of the catalogue, by id.
#include "repro/assert_site.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "repro/diagnose.h"
#include "repro/parse_assert.h"

namespace dsafuzz {
namespace {

using Ids = std::vector<std::string_view>;

Ids ids_of(const std::vector<const AssertRow*>& rows) {
  Ids ids;
  for (const AssertRow* row : rows) ids.push_back(row->id);
  return ids;
}

#define CUDA "/pytorch/aten/src/ATen/native/cuda/"
constexpr const char* kIndex = "-sizes[i] <= index && index < sizes[i] && \"index out of bounds\"";
constexpr const char* kScatterGather =
    "idx_dim >= 0 && idx_dim < index_size && \"scatter gather kernel index out of bounds\"";
constexpr const char* kAligned =
    "delta % align == 0 && \"expected input tensor dynamic dimension byte size to be non-negative multiple of 16\\n\"";

struct Line {
  const char* what;
  PrintedAssert printed;
  Ids ids;
};

TEST(AssertSite, WhoPrintsALine) {
  const std::vector<Line> rows = {
      {"reading and writing by index share a lambda",
       {CUDA "IndexKernel.cu", 111, "operator()", kIndex},
       {"U01", "U02"}},
      {"gather and scatter share a lambda",
       {CUDA "ScatterGatherKernel.cu", 163, "operator()", kScatterGather},
       {"U08", "U09", "U10", "U11", "U12", "U13"}},
      {"the same words, another line and text",
       {CUDA "ScatterGatherKernel.cu", 409, "operator()",
        "idx_dim >= 0 && idx_dim < index_size && \"index out of bounds\""},
       {"U14", "U15"}},
      {"embedding is index_select",
       {CUDA "Indexing.cu", 1515, "indexSelectSmallIndex", "srcIndex < srcSelectDimSize"},
       {"U06", "U07"}},
      {"one text, two kernels: the small one",
       {CUDA "Indexing.cu", 1021, "indexFuncSmallIndex", "dstIndex < dstAddDimSize"},
       {"U18", "U20"}},
      {"one text, two kernels: the large one",
       {CUDA "Indexing.cu", 1080, "indexFuncLargeIndex", "dstIndex < dstAddDimSize"},
       {"U19", "V01"}},
      {"one text, two kernels, on Windows",
       {"C:\\b\\aten\\src\\ATen\\native\\cuda\\Indexing.cu", 1080, {}, "dstIndex < dstAddDimSize"},
       {"U19", "V01"}},
      {"one text, many kernels of a file",
       {CUDA "Loss.cu", 245, "nll_loss_forward_reduce_cuda_kernel_2d", "t >= 0 && t < n_classes"},
       {"U28"}},
      {"another version's line: the function decides",
       {CUDA "Loss.cu", 250, "nll_loss_forward_reduce_cuda_kernel_2d", "t >= 0 && t < n_classes"},
       {"U28"}},
      {"neither line nor function", {"Loss.cu", 0, {}, "t >= 0 && t < n_classes"}, {"U27", "U28", "U32", "U33"}},
      {"the text for uint8", {CUDA "Loss.cu", 245, {}, "t < n_classes"}, {"V03"}},
      {"the same text in one kernel: the line decides",
       {CUDA "GroupMMCommon.cuh", 71, "prepare_grouped_gemm_data", kAligned},
       {"U67"}},
      {"the same text in one kernel, without a line",
       {CUDA "GroupMMCommon.cuh", 0, "prepare_grouped_gemm_data", kAligned},
       {"U66", "U67"}},
      {"a lambda's lanes", {CUDA "DistributionTemplates.h", 629, "operator()", "0 <= p3 && p3 <= 1"}, {"V08"}},
      {"input and target of one lambda",
       {CUDA "Loss.cu", 91, "operator()", "target_val >= zero && target_val <= one"},
       {"U38"}},
      {"five invariants, one text",
       {"/pytorch/aten/src/ATen/native/sparse/ValidateCompressedIndicesCommon.h", 44, "_assert", "cond && message"},
       {"U61a", "U61b", "U61c", "U61d", "U61e"}},
      {"a caller's text that is known",
       {CUDA "TensorCompare.cu", 109, "_assert_async_cuda_kernel",
        "invalid multinomial distribution (sum of probabilities <= 0)"},
       {"U46"}},
      {"a caller's text that is not",
       {CUDA "TensorCompare.cu", 109, "_assert_async_cuda_kernel", "Key alignment"},
       {"U49"}},
      {"a complex value", {CUDA "TensorCompare.cu", 116, "_assert_async_cuda_kernel", "Key alignment"}, {"V10"}},
      {"no text", {CUDA "TensorCompare.cu", 109, "_assert_async_cuda_kernel", ""}, {"U49", "H01"}},
      {"a name with its types",
       {CUDA "MultinomialKernel.cu", 60,
        "void at::native::(anonymous namespace)::renormRowsL1(scalar_t *, long, long) [with scalar_t = float]",
        "!(val < zero)"},
       {"U47"}},
      {"no input reaches it", {CUDA "MultinomialKernel.cu", 66, "renormRowsL1", "!(val < zero)"}, {"I21"}},
      {"another file with the text", {CUDA "Other.cu", 111, "operator()", kIndex}, {}},
      {"a lambda is no named kernel", {CUDA "IndexKernel.cu", 111, "index_kernel", kIndex}, {}},
      {"an unknown text", {CUDA "Loss.cu", 245, {}, "t > n_classes"}, {}},
      {"nothing", {}, {}},
  };
  for (const Line& row : rows) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(ids_of(find_assert(row.printed)), row.ids);
  }
}

TEST(AssertSite, TheOperatorDecides) {
  const auto shared = find_assert({CUDA "ScatterGatherKernel.cu", 163, "operator()", kScatterGather});
  EXPECT_EQ(ids_of(rows_of_operator(shared, "aten::gather")), Ids{"U09"});
  EXPECT_EQ(ids_of(rows_of_operator(shared, "aten::embedding")), Ids{"U08"});
  EXPECT_EQ(ids_of(rows_of_operator(shared, "aten::scatter_.src")), Ids{"U11"});
  EXPECT_EQ(ids_of(rows_of_operator(shared, "aten::scatter_")), Ids{"U11"});
  EXPECT_EQ(ids_of(rows_of_operator(shared, "aten::scatter_add_")), Ids{"U12"});
  // Where an error surfaces late, the operator is none of them.
  EXPECT_EQ(rows_of_operator(shared, "backward").size(), 6U);
  EXPECT_EQ(rows_of_operator(shared, "").size(), 6U);
  EXPECT_TRUE(rows_of_operator({}, "aten::gather").empty());
}

TEST(AssertSite, TextsForPeople) {
  const auto rows = find_assert({CUDA "Indexing.cu", 1515, {}, "srcIndex < srcSelectDimSize"});
  EXPECT_EQ(operators_of(rows), "aten::index_select, aten::embedding");
  EXPECT_EQ(triggers_of(rows),
            "at most 16 indices; an index from size on, or a negative one; or at most 16 tokens; a "
            "token from num_embeddings on, or a negative one");
  EXPECT_EQ(triggers_of(find_assert({"MultinomialKernel.cu", 66, {}, "!(val < zero)"})), "");
}

// The table as a whole: 74 rows that a user can reach, and no id twice.
TEST(AssertSite, EveryRowIsRead) {
  std::set<std::string_view> ids;
  int users = 0;
  for (const AssertRow& row : assert_rows()) {
    SCOPED_TRACE(row.id);
    EXPECT_TRUE(ids.insert(row.id).second);
    EXPECT_GT(row.line, 0);
    EXPECT_FALSE(row.file.empty() || row.function.empty());
    users += row.id.starts_with("U") ? 1 : 0;
    EXPECT_EQ(row.reachable, !row.operators.empty());
    // Each row finds itself.
    const auto found =
        find_assert({std::string(row.file), row.line, std::string(row.function), std::string(row.condition)});
    EXPECT_TRUE(std::ranges::find(found, &row) != found.end());
  }
  EXPECT_EQ(users, 74);
}

// A log without a program: the reader is told whose line it is rather than a guess.
TEST(AssertSite, FromALog) {
  const AssertReading reading = parse_asserts(
      read_log_text(CUDA "ScatterGatherKernel.cu:163: operator(): block: [0,0,0], thread: [32,0,0] Assertion `" +
                    std::string(kScatterGather) + "` failed.\n"));
  ASSERT_EQ(reading.records.size(), 1U);
  const AssertRecord& record = reading.records[0];
  EXPECT_EQ(operators_of(find_assert({record.file, record.line, record.function, record.condition})),
            "aten::index_select, aten::embedding, aten::gather, aten::take_along_dim, aten::scatter_.src, "
            "aten::scatter_.reduce, aten::scatter_add_, aten::scatter_reduce_.two");
}

TEST(AssertSite, InAdvice) {
  Case c;
  c.scenario = "test";
  c.steps = {{{"y"}, "aten::multinomial", {}}};
  Diagnosis d;
  d.signature = {Verdict::device_assert, "aten::multinomial", "aten/src/ATen/native/cuda/MultinomialKernel.cu",
                 "renormRowsL1", "!(val < zero)"};
  EXPECT_EQ(
      advise(c, d).cause,
      "Kernel renormRowsL1 stopped at a failed device assert with \"!(val < zero)\". Known from aten::multinomial: "
      "with replacement, two samples or more; a weight below 0.");
}

}  // namespace
}  // namespace dsafuzz
