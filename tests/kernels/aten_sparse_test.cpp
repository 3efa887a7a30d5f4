// The check of compressed sparse indices: every broken invariant stops the device at one line with one text, and what
// is legal passes, as on the CPU, which names the invariant.
#include <ATen/ATen.h>

#include "tests/kernels/aten_fixture.h"

namespace {

using at::Tensor;
using testing::HasSubstr;

struct Row {
  const char* what;
  std::vector<std::int64_t> compressed, plain;
  std::int64_t rows = 2, columns = 2;
  const char* thread = "block: [0,0,0], thread: [0,0,0]";
  std::int64_t batches = 1;
};

class AtenSparseTest : public AtenTest {
 protected:
  // Whether the CPU accepts, and what the device printed.
  static std::pair<bool, std::string> check(const Row& row, at::ScalarType type) {
    vcuda::reset_contexts();
    const Tensor compressed = longs(row.compressed, type).reshape({row.batches, -1});
    const Tensor plain = longs(row.plain, type).reshape({row.batches, -1});
    const auto call = [&](at::Device on) {
      at::_validate_compressed_sparse_indices(true, compressed.to(on), plain.to(on), row.rows, row.columns,
                                              plain.size(1));
    };
    bool accepted = true;
    try {
      call(at::Device(at::kCPU));
    } catch (const c10::Error&) {
      accepted = false;
    }
    const std::string printed = printed_by([&] {
      try {
        call(vcuda_device());
      } catch (const c10::AcceleratorError&) {
        // The second launch met the error of the first.
      }
    });
    return {accepted, printed};
  }
};

TEST_F(AtenSparseTest, BrokenInvariants) {
  const std::vector<Row> rows = {
      {"U61a begins with 1", {1, 1, 2}, {0, 1}},
      {"U61b ends with more than there are", {0, 1, 3}, {0, 1}},
      {"U61c a row of negative length", {0, 3, 2}, {0, 1}},
      {"U61c a row longer than the columns", {0, 3, 3}, {0, 1, 1}},
      {"U61c the second row", {0, 1, 0, 2}, {0, 1}, 3, 2, "block: [0,0,0], thread: [1,0,0]"},
      {"U61d above", {0, 1, 2}, {0, 5}, 2, 2, "block: [0,0,0], thread: [1,0,0]"},
      {"U61d equal to the columns", {0, 1, 2}, {2, 0}},
      {"U61d negative", {0, 1, 2}, {0, -1}, 2, 2, "block: [0,0,0], thread: [1,0,0]"},
      {"U61e not sorted", {0, 2, 2}, {1, 0}},
      {"U61e twice the same", {0, 2, 2}, {1, 1}},
      {"U61e in the second batch", {0, 2, 2, 0, 2, 2}, {0, 1, 1, 0}, 2, 2, "block: [0,0,0], thread: [2,0,0]", 2},
  };
  for (const Row& row : rows) {
    for (const at::ScalarType type : {at::kLong, at::kInt}) {
      SCOPED_TRACE(row.what);
      const auto [accepted, printed] = check(row, type);
      EXPECT_FALSE(accepted);
      EXPECT_EQ(vcuda::synchronize(), vcuda::Error::assert_triggered);
      EXPECT_THAT(printed, HasSubstr("/pytorch/aten/src/ATen/native/sparse/ValidateCompressedIndicesCommon.h:44: "
                                     "_assert: " +
                                     std::string(row.thread) + " Assertion `cond && message` failed.\n"));
    }
  }
}

TEST_F(AtenSparseTest, LegalIndices) {
  const std::vector<Row> rows = {
      {"no element", {0, 0, 0}, {}},
      {"no row", {0}, {}, 0},
      {"full rows", {0, 2, 4}, {0, 1, 0, 1}},
      {"an empty row between others", {0, 1, 1, 3}, {1, 0, 1}, 3},
      {"two batches", {0, 2, 2, 0, 1, 2}, {0, 1, 1, 0}, 2, 2, "", 2},
  };
  for (const Row& row : rows) {
    for (const at::ScalarType type : {at::kLong, at::kInt}) {
      SCOPED_TRACE(row.what);
      const auto [accepted, printed] = check(row, type);
      EXPECT_TRUE(accepted);
      EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);
      EXPECT_EQ(printed, "");
    }
  }
}

// Elements of a thread lie a block apart: the last of 600 rows is thread 87's of the second block.
TEST_F(AtenSparseTest, BlockAndThread) {
  Row row{"row 599 of 600", std::vector<std::int64_t>(601, 0), {1, 0}, 600};
  row.compressed[600] = 2;
  const auto [accepted, printed] = check(row, at::kLong);
  EXPECT_FALSE(accepted);
  EXPECT_THAT(printed, HasSubstr("block: [1,0,0], thread: [87,0,0]"));
}

}  // namespace
