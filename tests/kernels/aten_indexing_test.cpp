// Operators that write by index, margin losses, binary cross entropy and integer division, with illegal inputs: which
// assert a CUDA device prints (rows of the catalogue of device asserts in PyTorch 2.11), and where it is silent.
#include <ATen/ATen.h>

#include <functional>
#include <limits>

#include "tests/kernels/assert_rows.h"
#include "tests/kernels/aten_fixture.h"

namespace {

using at::Device;
using at::Tensor;
using testing::HasSubstr;
using O = at::TensorOptions;

constexpr std::int64_t kWrap = std::int64_t{1} << 32;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

constexpr auto kNone = at::Reduction::None;

#define INDEX_KERNEL "aten/src/ATen/native/cuda/IndexKernel.cu:"
#define INDEXING "aten/src/ATen/native/cuda/Indexing.cu:"

constexpr const char* kFill = "idx >= -self_dim_size && idx < self_dim_size && \"index out of bounds\"";
constexpr const char* kCopy = "idx >= 0 && idx < self_dim_size && \"index_copy_(): index out of bounds\"";
constexpr const char* kFunc = "dstIndex < dstAddDimSize";
constexpr const char* kTakePut = "idx < numel && idx >= -numel && \"cuda_take_put_kernel() index out of bounds\"";
constexpr const char* kMask = "totalElements <= srcSize";
constexpr const char* kMargin = "target_k >= 0 && target_k < dim && \"target index is out of bounds\"";
constexpr const char* kInput = "input_val >= zero && input_val <= one";
constexpr const char* kTarget = "target_val >= zero && target_val <= one";
constexpr const char* kOp = "operator()";
constexpr const char* kSmall = "indexFuncSmallIndex";
constexpr const char* kLarge = "indexFuncLargeIndex";
constexpr const char* kMarginKernel = "MultiMarginLoss_forward_kernel";
constexpr const char* kMarginLine = "aten/src/ATen/native/cuda/MultiMarginLoss.cu:33";
constexpr const char* kLoss90 = "aten/src/ATen/native/cuda/Loss.cu:90";
constexpr const char* kLoss91 = "aten/src/ATen/native/cuda/Loss.cu:91";

O device_options() { return O(vcuda_device()).dtype(at::kFloat); }
Tensor on_device(const Tensor& tensor) { return tensor.to(vcuda_device()); }
Tensor ids(std::vector<std::int64_t> values, at::ScalarType type = at::kLong) {
  return on_device(longs(std::move(values), type));
}
Tensor reals(std::vector<double> values, at::ScalarType type = at::kFloat) {
  return on_device(at::tensor(values, O(at::kDouble)).to(type));
}
Tensor marks(int count) { return at::ones({count}, device_options().dtype(at::kBool)); }

// Sixteen legal indices and another one: more than the small kernel takes.
Tensor seventeen(std::int64_t last) {
  std::vector<std::int64_t> values(17, 0);
  values[16] = last;
  return ids(std::move(values));
}

std::vector<AssertRow> slice_asserts() {
  return {
      {"U16", [](O on) { at::zeros(4, on).index_fill_(0, ids({4}), 1.0); }, INDEX_KERNEL "154", kOp, kFill},
      {"U16 below",
       [](O on) {
         at::zeros(4, on).index_fill_(0, ids({0, -5}), 1.0);
       },
       INDEX_KERNEL "154", kOp, kFill, "block: [0,0,0], thread: [1,0,0]"},
      {"U16 out of place, tensor value", [](O on) { at::zeros(4, on).index_fill(0, ids({4}), at::ones({}, on)); },
       INDEX_KERNEL "154", kOp, kFill},
      {"U16 reads 64 bits", [](O on) { at::zeros(4, on).index_fill_(0, ids({kWrap}), 1.0); }, INDEX_KERNEL "154", kOp,
       kFill},
      {"U16 second block",
       [](O on) {
         at::zeros({4, 512}, on).index_fill_(0, ids({0, 4}), 1.0);
       },
       INDEX_KERNEL "154", kOp, kFill, "block: [1,0,0], thread: [0,0,0]"},
      {"U17", [](O on) { at::zeros(4, on).index_copy_(0, ids({4}), at::ones(1, on)); }, INDEX_KERNEL "193", kOp, kCopy},
      {"U17 negative", [](O on) { at::zeros(4, on).index_copy_(0, ids({-1}), at::ones(1, on)); }, INDEX_KERNEL "193",
       kOp, kCopy},
      {"U17 columns",
       [](O on) {
         at::zeros({2, 4}, on).index_copy_(1, ids({3, 4}), at::ones({2, 2}, on));
       },
       INDEX_KERNEL "193", kOp, kCopy, "block: [0,0,0], thread: [1,0,0]"},
  };
}

std::vector<AssertRow> reduce_asserts() {
  return {
      {"U18", [](O on) { at::zeros(4, on).index_add_(0, ids({4}), at::ones(1, on)); }, INDEXING "1021", kSmall, kFunc},
      {"U18 negative", [](O on) { at::zeros(4, on).index_add_(0, ids({-1}), at::ones(1, on)); }, INDEXING "1021",
       kSmall, kFunc},
      {"U18 negative int32", [](O on) { at::zeros(4, on).index_add_(0, ids({-4}, at::kInt), at::ones(1, on)); },
       INDEXING "1021", kSmall, kFunc},
      {"U18 every thread of a slice",
       [](O on) {
         at::zeros({4, 3}, on).index_add_(0, ids({0, 4}), at::ones({2, 3}, on));
       },
       INDEXING "1021", kSmall, kFunc, "block: [0,0,0], thread: [2,0,0]"},
      {"U18 complex",
       [](O on) {
         const O complex = on.dtype(at::kComplexFloat);
         at::zeros(4, complex).index_add_(0, ids({4}), at::ones(1, complex));
       },
       INDEXING "1021", kSmall, kFunc},
      {"U18 out of nothing",
       [](O on) {
         at::zeros({0, 2}, on).index_add_(0, ids({0}), at::ones({1, 2}, on));
       },
       INDEXING "1021", kSmall, kFunc},
      {"U19",
       [](O on) {
         at::zeros({4, 2}, on).index_add_(0, seventeen(4), at::ones({17, 2}, on));
       },
       INDEXING "1080", kLarge, kFunc, "block: [0,0,0], thread: [32,0,0]"},
      {"U19 index minor",
       [](O on) {
         at::zeros({2, 4}, on).t().index_add_(0, seventeen(-1), at::ones({17, 2}, on));
       },
       INDEXING "1080", kLarge, kFunc, "block: [0,0,0], thread: [16,0,0]"},
      {"U19 half",
       [](O on) {
         const O half = on.dtype(at::kHalf);
         at::zeros(4, half).index_add_(0, seventeen(4), at::ones(17, half));
       },
       INDEXING "1080", kLarge, kFunc, "block: [0,0,0], thread: [16,0,0]"},
      {"U20 prod", [](O on) { at::zeros(4, on).index_reduce_(0, ids({4}), at::ones(1, on), "prod"); }, INDEXING "1021",
       kSmall, kFunc},
      {"U20 amax, negative", [](O on) { at::zeros(4, on).index_reduce_(0, ids({-1}), at::ones(1, on), "amax"); },
       INDEXING "1021", kSmall, kFunc},
      {"U20 mean",
       [](O on) {
         at::zeros({4, 2}, on).index_reduce_(0, ids({4}), at::ones({1, 2}, on), "mean");
       },
       INDEXING "1021", kSmall, kFunc},
      {"U20 17 indices", [](O on) { at::zeros(4, on).index_reduce_(0, seventeen(4), at::ones(17, on), "amin"); },
       INDEXING "1080", kLarge, kFunc, "block: [0,0,0], thread: [16,0,0]"},
      // Old values that do not count are filled over first, and index_fill checks the index on its own.
      {"U20 without self", [](O on) { at::zeros(4, on).index_reduce_(0, ids({4}), at::ones(1, on), "prod", false); },
       INDEX_KERNEL "154", kOp, kFill},
      {"U20 without self, negative",
       [](O on) { at::zeros(4, on).index_reduce_(0, ids({-1}), at::ones(1, on), "prod", false); }, INDEXING "1021",
       kSmall, kFunc},
  };
}

std::vector<AssertRow> element_asserts() {
  return {
      {"U21", [](O on) { at::take(at::arange(4, on), ids({4})); }, INDEX_KERNEL "339", kOp, kTakePut},
      {"U21 below",
       [](O on) {
         at::take(at::arange(4, on), ids({-4, -5}));
       },
       INDEX_KERNEL "339", kOp, kTakePut, "block: [0,0,0], thread: [1,0,0]"},
      {"U21 reads 64 bits", [](O on) { at::take(at::arange(4, on), ids({kWrap})); }, INDEX_KERNEL "339", kOp, kTakePut},
      {"U22", [](O on) { at::zeros(4, on).put_(ids({4}), at::ones(1, on)); }, INDEX_KERNEL "339", kOp, kTakePut},
      {"U22 below", [](O on) { at::zeros(4, on).put_(ids({-5}), at::ones(1, on)); }, INDEX_KERNEL "339", kOp, kTakePut},
      {"U22 accumulate", [](O on) { at::zeros(4, on).put_(ids({4}), at::ones(1, on), true); }, INDEX_KERNEL "339", kOp,
       kTakePut},
      {"U23", [](O on) { at::zeros(4, on).masked_scatter_(marks(4), at::ones(3, on)); }, INDEX_KERNEL "400",
       "masked_scatter_size_check", kMask},
      {"U23 out of place, nothing to take", [](O on) { at::zeros(4, on).masked_scatter(marks(1), at::ones(0, on)); },
       INDEX_KERNEL "400", "masked_scatter_size_check", kMask},
  };
}

std::vector<AssertRow> sparse_asserts() {
  const char* where = INDEXING "1877";
  const char* condition = "idx >= -size && idx < size && \"index_select(): index out of bounds\"";
  return {
      {"U24", [](O on) { at::eye(4, on).to_sparse().index_select(0, ids({4})); }, where, kOp, condition},
      {"U24 below, strided",
       [](O on) {
         at::eye(4, on).to_sparse().index_select(1, ids({0, 9, -5, 9}).slice(0, 0, 4, 2));
       },
       where, kOp, condition, "block: [0,0,0], thread: [1,0,0]"},
      {"U24 full block: a thread takes neighbours",
       [](O on) { at::eye(4, on).to_sparse().index_select(0, on_device((at::arange(512) == 511).to(at::kLong) * 4)); },
       where, kOp, condition, "block: [0,0,0], thread: [127,0,0]"},
  };
}

std::vector<AssertRow> loss_asserts() {
  return {
      {"U36",
       [](O on) {
         at::multi_margin_loss(at::zeros({2, 3}, on), ids({0, 3}));
       },
       kMarginLine, kMarginKernel, kMargin, "block: [1,0,0], thread: [127,0,0]"},
      {"U36 below",
       [](O on) {
         at::multi_margin_loss(at::zeros({2, 3}, on), ids({-1, 0}), 2);
       },
       kMarginLine, kMarginKernel, kMargin},
      {"U36 none",
       [](O on) {
         at::multi_margin_loss(at::zeros({2, 3}, on), ids({3, 0}), 1, 1, {}, kNone);
       },
       kMarginLine, kMarginKernel, kMargin},
      {"U36 one sample", [](O on) { at::multi_margin_loss(at::zeros({3}, on), ids({3})[0]); }, kMarginLine,
       kMarginKernel, kMargin},
      {"U36 half",
       [](O on) {
         at::multi_margin_loss(at::zeros({1, 3}, on.dtype(at::kHalf)), ids({3}));
       },
       kMarginLine, kMarginKernel, kMargin},
      {"U37", [](O) { at::binary_cross_entropy(reals({1.5}), reals({1})); }, kLoss90, kOp, kInput},
      {"U37 below",
       [](O) {
         at::binary_cross_entropy(reals({0.5, -0.1}), reals({1, 1}));
       },
       kLoss90, kOp, kInput, "block: [0,0,0], thread: [1,0,0]"},
      {"U37 NaN", [](O) { at::binary_cross_entropy(reals({kNaN}), reals({1})); }, kLoss90, kOp, kInput},
      {"U37 half", [](O) { at::binary_cross_entropy(reals({1.5}, at::kHalf), reals({1}, at::kHalf)); }, kLoss90, kOp,
       kInput},
      {"U37 bfloat16, none",
       [](O) { at::binary_cross_entropy(reals({1.5}, at::kBFloat16), reals({1}, at::kBFloat16), {}, kNone); }, kLoss90,
       kOp, kInput},
      {"U37 full block: a thread takes neighbours",
       [](O on) { at::binary_cross_entropy(on_device((at::arange(600) == 7).to(at::kFloat) * 2), at::ones(600, on)); },
       kLoss90, kOp, kInput, "block: [0,0,0], thread: [1,0,0]"},
      {"U37 last block: a thread's elements lie apart",
       [](O on) {
         at::binary_cross_entropy(on_device((at::arange(600) == 519).to(at::kFloat) * 2), at::ones(600, on));
       },
       kLoss90, kOp, kInput, "block: [1,0,0], thread: [7,0,0]"},
      {"U38", [](O) { at::binary_cross_entropy(reals({0.5}), reals({2})); }, kLoss91, kOp, kTarget},
      {"U38 below", [](O) { at::binary_cross_entropy(reals({0.5}), reals({-1})); }, kLoss91, kOp, kTarget},
      {"U38 NaN", [](O) { at::binary_cross_entropy(reals({0.5}), reals({kNaN})); }, kLoss91, kOp, kTarget},
      {"U38 double", [](O) { at::binary_cross_entropy(reals({0.5}, at::kDouble), reals({2}, at::kDouble)); }, kLoss91,
       kOp, kTarget},
  };
}

class AtenIndexingTest : public AtenTest {};

TEST_F(AtenIndexingTest, Slices) { expect_asserts(slice_asserts()); }
TEST_F(AtenIndexingTest, Reductions) { expect_asserts(reduce_asserts()); }
TEST_F(AtenIndexingTest, Elements) { expect_asserts(element_asserts()); }
TEST_F(AtenIndexingTest, SparseTensors) { expect_asserts(sparse_asserts()); }
TEST_F(AtenIndexingTest, Losses) { expect_asserts(loss_asserts()); }

// Adding by index checks in another file: by _assert_async, without a text.
TEST_F(AtenIndexingTest, AccumulatingPut) {
  const auto assert_async = c10::Dispatcher::singleton().findSchemaOrThrow("aten::_assert_async", "");
  if (!assert_async.hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1)) {
    GTEST_SKIP() << "_assert_async runs on the CPU";
  }
  const char* where = "aten/src/ATen/native/cuda/TensorCompare.cu:109";
  const char* kernel = "_assert_async_cuda_kernel";
  expect_asserts({
      {"H01", [](O on) { at::zeros(4, on).index_put_({ids({4})}, at::ones({}, on), true); }, where, kernel, ""},
      {"H01 below", [](O on) { at::zeros(4, on).index_put_({ids({-5})}, at::ones({}, on), true); }, where, kernel, ""},
  });
}

struct Silent {
  const char* row;
  std::function<Tensor(O on)> call;
  std::vector<double> expected = {};  // empty: any value
};

// What a GPU takes although the operator's contract forbids it: nothing is printed, and the program goes on.
TEST_F(AtenIndexingTest, Silence) {
  const std::vector<Silent> rows = {
      {"S01 index_add",
       [](O on) { return at::zeros(4, on).index_add_(0, ids({kWrap + 1}), at::ones(1, on)); },
       {0, 1, 0, 0}},
      {"S01 index_add, 17 indices",
       [](O on) { return at::zeros(4, on).index_add_(0, seventeen(3 * kWrap + 1), at::ones(17, on)); },
       {16, 1, 0, 0}},
      {"S01 index_reduce",
       [](O on) { return at::ones(4, on).index_reduce_(0, ids({kWrap + 1}), at::full(1, 5, on), "prod"); },
       {1, 5, 1, 1}},
      {"S01 multi_margin_loss",
       [](O on) {
         return at::multi_margin_loss(at::zeros({2, 3}, on), ids({kWrap, 0}));
       },
       {2.0 / 3}},
      {"S02 a label of the next row",
       [](O on) {
         return at::multilabel_margin_loss(at::zeros({2, 3}, on), ids({3, -1, 0, -1, 0, 0}).reshape({2, 3}));
       }},
      {"S02 a negative label that does not end a row by contract",
       [](O on) {
         return at::multilabel_margin_loss(at::zeros({1, 3}, on), ids({-2, -1, 0}).reshape({1, 3}));
       },
       {0}},
      {"S03",
       [](O on) {
         return at::multi_margin_loss_backward(at::ones({}, on), at::zeros({2, 3}, on), ids({3, 0}), 1, 1);
       }},
      {"S06",
       [](O on) {
         Tensor x = at::zeros(4, on);
         return at::_index_put_impl_(x, {ids({5})}, at::ones({}, on), /*accumulate=*/true, /*unsafe=*/true);
       },
       {0, 1, 0, 0}},
      {"S10 //", [](O) { return at::floor_divide(ids({1}), ids({0})); }},
      {"S10 // a number", [](O) { return at::floor_divide(ids({1}), at::Scalar(0)); }},
      {"S10 %", [](O) { return at::remainder(ids({1}), ids({0})); }},
      {"S10 fmod, int32", [](O) { return at::fmod(ids({1}, at::kInt), ids({0}, at::kInt)); }},
      {"S10 div_, uint8", [](O) { return ids({1}, at::kByte).div_(ids({0}, at::kByte), "trunc"); }},
      {"S11 index_select",
       [](O on) {
         return at::zeros({4, 0}, on).index_select(0, ids({9}));
       }},
      {"S11 index_add",
       [](O on) {
         return at::zeros({4, 0}, on).index_add_(0, ids({9}), at::ones({1, 0}, on));
       }},
      {"S11 x[i]",
       [](O on) {
         return at::zeros({4, 0}, on).index({ids({9})});
       }},
      {"S20", [](O) { return at::binary_cross_entropy_backward(reals({1}), reals({1.5}), reals({1})); }, {5.0e11}},
  };
  for (const Silent& row : rows) {
    SCOPED_TRACE(row.row);
    vcuda::reset_contexts();
    Tensor got;
    EXPECT_EQ(printed_by([&] { got = row.call(device_options()).cpu(); }), "");
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);
    if (row.expected.empty()) continue;
    EXPECT_TRUE(at::allclose(got.to(at::kDouble).flatten(), at::tensor(row.expected, O(at::kDouble)))) << got;
  }
}

// A caching allocator hides a label that leaves its tensor by a little; exact allocations report it.
TEST_F(AtenIndexingTest, MultilabelLabelBeyondItsTensor) {
  const auto call = [](O on) {
    return at::multilabel_margin_loss(at::zeros({1, 3}, on), ids({3, -1, 0}).reshape({1, 3})).cpu();
  };
  vcuda::options().caching = true;
  vcuda::reset_contexts();
  EXPECT_EQ(printed_by([&] { (void)call(device_options()); }), "");
  EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);

  vcuda::options().caching = false;
  vcuda::reset_contexts();
  const std::string printed = printed_by([&] { EXPECT_THROW(call(device_options()), c10::AcceleratorError); });
  EXPECT_EQ(vcuda::synchronize(), vcuda::Error::illegal_address);
  EXPECT_THAT(printed, HasSubstr("Invalid __global__ write of size 4 bytes"));
  EXPECT_THAT(printed, HasSubstr("multilabel_margin_loss_forward_kernel"));
}

}  // namespace
