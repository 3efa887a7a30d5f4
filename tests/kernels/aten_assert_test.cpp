// Illegal inputs: which assert a CUDA device prints for them, row by row of the catalogue of device asserts in
// PyTorch 2.11, with file, line, function and condition, and the first failing block and thread.
#include <ATen/ATen.h>

#include <functional>

#include "tests/kernels/assert_rows.h"
#include "tests/kernels/aten_fixture.h"

namespace {

using at::Tensor;
using testing::HasSubstr;

constexpr std::int64_t kWrap = std::int64_t{1} << 32;

Tensor on_device(const Tensor& tensor) { return tensor.to(vcuda_device()); }
Tensor labels(std::vector<std::int64_t> values, at::ScalarType type = at::kLong) {
  return on_device(longs(std::move(values), type));
}
Tensor bytes(std::vector<std::int64_t> values) { return labels(std::move(values), at::kByte); }
Tensor pixels(std::vector<std::int64_t> values) { return labels(std::move(values)).reshape({1, 2, 2}); }
Tensor scalar(double value) { return on_device(at::scalar_tensor(value)); }

constexpr auto kNone = at::Reduction::None;
constexpr auto kMean = at::Reduction::Mean;
constexpr auto kSum = at::Reduction::Sum;

constexpr const char* kCurTarget = "cur_target >= 0 && cur_target < n_classes";
constexpr const char* kTarget = "t >= 0 && t < n_classes";
constexpr const char* kIndex = "-sizes[i] <= index && index < sizes[i] && \"index out of bounds\"";
constexpr const char* kVectorized = "ind >=0 && ind < ind_dim_size && \"vectorized gather kernel index out of bounds\"";
constexpr const char* kScatterGather =
    "idx_dim >= 0 && idx_dim < index_size && \"scatter gather kernel index out of bounds\"";
constexpr const char* kFill = "idx_dim >= 0 && idx_dim < index_size && \"index out of bounds\"";

constexpr const char* kIndexKernel = "aten/src/ATen/native/cuda/IndexKernel.cu:111";
constexpr const char* kIndexUtils = "aten/src/ATen/native/cuda/IndexKernelUtils.cu:16";
constexpr const char* kIndexing = "aten/src/ATen/native/cuda/Indexing.cu:1515";
constexpr const char* kScatterGather163 = "aten/src/ATen/native/cuda/ScatterGatherKernel.cu:163";
constexpr const char* kScatterGather409 = "aten/src/ATen/native/cuda/ScatterGatherKernel.cu:409";
#define LOSS "aten/src/ATen/native/cuda/Loss.cu:"
#define LOSS2D "aten/src/ATen/native/cuda/NLLLoss2d.cu:"

// Sixteen legal indices and a bad one: more than the small kernel takes.
Tensor seventeen(std::int64_t last) {
  std::vector<std::int64_t> values(17, 0);
  values[16] = last;
  return labels(std::move(values));
}

std::vector<AssertRow> index_asserts() {
  using O = at::TensorOptions;
  const char* op = "operator()";
  return {
      {"U01 above", [](O on) { at::arange(4, on).index({labels({4})}); }, kIndexKernel, op, kIndex},
      {"U01 below",
       [](O on) {
         at::arange(4, on).index({labels({0, -5})});
       },
       kIndexKernel, op, kIndex, "block: [0,0,0], thread: [1,0,0]"},
      {"U01 second index",
       [](O on) {
         at::zeros({4, 3}, on).index({labels({3}), labels({3})});
       },
       kIndexKernel, op, kIndex},
      {"U01 second block",
       [](O on) { at::arange(4, on).index({on_device((at::arange(520) == 519).to(at::kLong) * 4)}); }, kIndexKernel, op,
       kIndex, "block: [1,0,0], thread: [7,0,0]"},
      {"U01 unsafe", [](O on) { at::_unsafe_index(at::arange(4, on), {labels({4})}); }, kIndexKernel, op, kIndex},
      {"U02", [](O on) { at::zeros(4, on).index_put_({labels({4})}, scalar(1)); }, kIndexKernel, op, kIndex},
      {"U03",
       [](O on) {
         at::zeros({4, 8}, on).index({labels({0, 4})});
       },
       kIndexUtils, "vectorized_gather_kernel", kVectorized, "block: [1,0,0], thread: [31,0,0]"},
      {"U03 below",
       [](O on) {
         at::zeros({4, 8}, on).index({labels({-4, -5})});
       },
       kIndexUtils, "vectorized_gather_kernel", kVectorized, "block: [1,0,0], thread: [0,0,0]"},
      {"U04",
       [](O on) {
         at::zeros({4, 8}, on).gather(0, labels({0, -1}).unsqueeze(1).expand({2, 8}));
       },
       kIndexUtils, "vectorized_gather_kernel", kVectorized, "block: [1,0,0], thread: [0,0,0]"},
      {"U05 index_select",
       [](O on) {
         at::zeros({4, 8}, on).index_select(0, seventeen(4));
       },
       kIndexUtils, "vectorized_gather_kernel", kVectorized, "block: [16,0,0], thread: [0,0,0]"},
      {"U05 embedding",
       [](O on) {
         at::embedding(at::zeros({4, 8}, on), seventeen(-1));
       },
       kIndexUtils, "vectorized_gather_kernel", kVectorized, "block: [16,0,0], thread: [0,0,0]"},
      {"U06", [](O on) { at::arange(4, on).index_select(0, labels({4})); }, kIndexing, "indexSelectSmallIndex",
       "srcIndex < srcSelectDimSize"},
      {"U06 negative", [](O on) { at::arange(4, on).index_select(0, labels({-1})); }, kIndexing,
       "indexSelectSmallIndex", "srcIndex < srcSelectDimSize"},
      {"U06 int32", [](O on) { at::arange(4, on).index_select(0, labels({4}, at::kInt)); }, kIndexing,
       "indexSelectSmallIndex", "srcIndex < srcSelectDimSize"},
      {"U07",
       [](O on) {
         at::embedding(at::zeros({4, 4}, on), labels({4}));
       },
       kIndexing, "indexSelectSmallIndex", "srcIndex < srcSelectDimSize", "block: [0,0,0], thread: [3,0,0]"},
      {"U08 index_select", [](O on) { at::arange(4, on).index_select(0, seventeen(4)); }, kScatterGather163, op,
       kScatterGather, "block: [0,0,0], thread: [16,0,0]"},
      {"U08 embedding",
       [](O on) {
         at::embedding(at::zeros({4, 3}, on), labels({0, 4}).repeat({16, 1}));
       },
       kScatterGather163, op, kScatterGather, "block: [0,0,0], thread: [3,0,0]"},
      {"U09", [](O on) { at::arange(4, on).gather(0, labels({4})); }, kScatterGather163, op, kScatterGather},
      {"U09 negative", [](O on) { at::arange(4, on).gather(0, labels({-1})); }, kScatterGather163, op, kScatterGather},
      {"U09 scalar", [](O on) { at::ones({}, on).gather(0, labels({1})[0]); }, kScatterGather163, op, kScatterGather},
      {"U10", [](O on) { at::take_along_dim(at::arange(4, on), labels({4})); }, kScatterGather163, op, kScatterGather},
      {"U11", [](O on) { at::zeros(4, on).scatter_(0, labels({4}), at::ones(1, on)); }, kScatterGather163, op,
       kScatterGather},
      {"U11 reduce", [](O on) { at::zeros(4, on).scatter_(0, labels({-1}), at::ones(1, on), "multiply"); },
       kScatterGather163, op, kScatterGather},
      {"U12", [](O on) { at::zeros(4, on).scatter_add_(0, labels({4}), at::ones(1, on)); }, kScatterGather163, op,
       kScatterGather},
      {"U12 half",
       [](O on) {
         at::zeros(4, on.dtype(at::kHalf)).scatter_add_(0, labels({0, 4}), at::ones(2, on.dtype(at::kHalf)));
       },
       kScatterGather163, op, kScatterGather, "block: [0,0,0], thread: [1,0,0]"},
      {"U12 in the second of two rows",
       [](O on) {
         const Tensor indices = labels({0, 1, 2, 3, 3, 2, 4, 0}).reshape({2, 4});
         at::zeros({2, 4}, on).scatter_add_(1, indices, at::ones({2, 4}, on));
       },
       kScatterGather163, op, kScatterGather, "block: [0,0,0], thread: [6,0,0]"},
      {"U13", [](O on) { at::zeros(4, on).scatter_reduce_(0, labels({4}), at::ones(1, on), "amax"); },
       kScatterGather163, op, kScatterGather},
      {"U13 mean", [](O on) { at::zeros(4, on).scatter_reduce_(0, labels({-1}), at::ones(1, on), "mean"); },
       kScatterGather163, op, kScatterGather},
      {"U14", [](O on) { at::zeros(4, on).scatter_(0, labels({4}), 1.0); }, kScatterGather409, op, kFill},
      {"U14 reduce", [](O on) { at::zeros(4, on).scatter_(0, labels({-1}), 1.0, "add"); }, kScatterGather409, op,
       kFill},
      {"U15", [](O) { at::one_hot(labels({5}), 4); }, kScatterGather409, op, kFill},
      {"U15 negative", [](O) { at::one_hot(labels({-1}), 4); }, kScatterGather409, op, kFill},
  };
}

std::vector<AssertRow> loss_asserts() {
  using O = at::TensorOptions;
  return {
      {"U25",
       [](O on) {
         at::nll_loss(at::zeros({2, 3}, on), labels({0, 3}), {}, kNone);
       },
       LOSS "180", "nll_loss_forward_no_reduce_cuda_kernel", kCurTarget, "block: [0,0,0], thread: [1,0,0]"},
      {"U25 below",
       [](O on) {
         at::nll_loss(at::zeros({2, 3}, on), labels({-1, 0}), {}, kNone);
       },
       LOSS "180", "nll_loss_forward_no_reduce_cuda_kernel", kCurTarget},
      {"U25 not the ignored one",
       [](O on) {
         at::nll_loss(at::zeros({2, 3}, on), labels({5, -100}), {}, kNone, 5);
       },
       LOSS "180", "nll_loss_forward_no_reduce_cuda_kernel", kCurTarget, "block: [0,0,0], thread: [1,0,0]"},
      {"U25 second block",
       [](O on) {
         at::nll_loss(at::zeros({1026, 1}, on), on_device(at::arange(1026) / 1025).to(at::kLong), {}, kNone);
       },
       LOSS "180", "nll_loss_forward_no_reduce_cuda_kernel", kCurTarget, "block: [1,0,0], thread: [1,0,0]"},
      {"U26",
       [](O on) {
         at::nll_loss(at::zeros({2, 3}, on), bytes({3, 0}), {}, kNone);
       },
       LOSS "180", "nll_loss_forward_no_reduce_cuda_kernel", "cur_target < n_classes"},
      {"U27", [](O on) { at::nll_loss(at::zeros({3}, on), labels({3})[0]); }, LOSS "201",
       "nll_loss_forward_reduce_cuda_kernel_1d", kTarget},
      {"U27 uint8", [](O on) { at::nll_loss(at::zeros({3}, on), bytes({255})[0]); }, LOSS "201",
       "nll_loss_forward_reduce_cuda_kernel_1d", "t < n_classes"},
      {"U28",
       [](O on) {
         at::nll_loss(at::zeros({2, 3}, on), labels({3, 0}));
       },
       LOSS "245", "nll_loss_forward_reduce_cuda_kernel_2d", kTarget},
      {"U28 sum, below",
       [](O on) {
         at::nll_loss(at::zeros({2, 3}, on), labels({0, -1}), {}, kSum);
       },
       LOSS "245", "nll_loss_forward_reduce_cuda_kernel_2d", kTarget, "block: [0,0,0], thread: [1,0,0]"},
      {"U28 cross_entropy",
       [](O on) {
         at::cross_entropy_loss(at::zeros({2, 3}, on), labels({3, 0}));
       },
       LOSS "245", "nll_loss_forward_reduce_cuda_kernel_2d", kTarget},
      {"U28 half",
       [](O on) {
         at::nll_loss(at::zeros({2, 3}, on.dtype(at::kHalf)), labels({3, 0}));
       },
       LOSS "245", "nll_loss_forward_reduce_cuda_kernel_2d", kTarget},
      {"U28 uint8",
       [](O on) {
         at::nll_loss(at::zeros({2, 3}, on), bytes({3, 0}));
       },
       LOSS "245", "nll_loss_forward_reduce_cuda_kernel_2d", "t < n_classes"},
      {"U28 sample 33",
       [](O on) {
         at::nll_loss(at::zeros({34, 1}, on), on_device((at::arange(34) == 33)).to(at::kLong));
       },
       LOSS "245", "nll_loss_forward_reduce_cuda_kernel_2d", kTarget, "block: [0,0,0], thread: [1,0,0]"},
      {"U28 far away",
       [](O on) {
         at::nll_loss(at::zeros({2, 3}, on), labels({kWrap, 0}));
       },
       LOSS "245", "nll_loss_forward_reduce_cuda_kernel_2d", kTarget},
      {"U29",
       [](O on) {
         at::nll_loss_nd(at::zeros({1, 3, 2, 2}, on), pixels({0, 3, 0, 0}));
       },
       LOSS2D "106", "nll_loss2d_forward_kernel", kTarget, "block: [0,0,0], thread: [1,0,0]"},
      {"U29 sequence",
       [](O on) {
         at::cross_entropy_loss(at::zeros({2, 3, 2}, on), labels({-1, 0, 0, 0}).reshape({2, 2}));
       },
       LOSS2D "106", "nll_loss2d_forward_kernel", kTarget},
      {"U30",
       [](O on) {
         at::nll_loss_nd(at::zeros({1, 3, 2, 2}, on), pixels({3, 0, 0, 0}), {}, kNone);
       },
       LOSS2D "73", "nll_loss2d_forward_no_reduce_kernel", kCurTarget},
      {"U30 the sample moves fastest, then the row",
       [](O on) {
         const Tensor bad = labels({0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0}).reshape({2, 2, 3});
         at::nll_loss_nd(at::zeros({2, 3, 2, 3}, on), bad, {}, kNone);
       },
       LOSS2D "73", "nll_loss2d_forward_no_reduce_kernel", kCurTarget, "block: [0,0,0], thread: [2,0,0]"},
      {"U30 reads 64 bits",
       [](O on) {
         at::nll_loss_nd(at::zeros({1, 3, 2, 2}, on), pixels({kWrap, 0, 0, 0}), {}, kNone);
       },
       LOSS2D "73", "nll_loss2d_forward_no_reduce_kernel", kCurTarget},
      {"U31",
       [](O on) {
         at::nll_loss_backward(at::ones(2, on), at::zeros({2, 3}, on), labels({3, 0}), {}, kNone, -100, scalar(2));
       },
       LOSS "429", "nll_loss_backward_no_reduce_cuda_kernel", kCurTarget},
      {"U31 uint8",
       [](O on) {
         at::nll_loss_backward(at::ones(2, on), at::zeros({2, 3}, on), bytes({3, 0}), {}, kNone, -100, scalar(2));
       },
       LOSS "429", "nll_loss_backward_no_reduce_cuda_kernel", "cur_target < n_classes"},
      {"U32",
       [](O on) { at::nll_loss_backward(scalar(1), at::zeros({3}, on), labels({3})[0], {}, kMean, -100, scalar(1)); },
       LOSS "448", "nll_loss_backward_reduce_cuda_kernel_1d", kTarget},
      {"U32 uint8",
       [](O on) { at::nll_loss_backward(scalar(1), at::zeros({3}, on), bytes({3})[0], {}, kMean, -100, scalar(1)); },
       LOSS "448", "nll_loss_backward_reduce_cuda_kernel_1d", "t < n_classes"},
      {"U33",
       [](O on) {
         at::nll_loss_backward(scalar(1), at::zeros({2, 3}, on), labels({0, -1}), {}, kMean, -100, scalar(2));
       },
       LOSS "477", "nll_loss_backward_reduce_cuda_kernel_2d", kTarget, "block: [0,0,0], thread: [1,0,0]"},
      {"U33 uint8",
       [](O on) {
         at::nll_loss_backward(scalar(1), at::zeros({2, 3}, on), bytes({3, 0}), {}, kMean, -100, scalar(2));
       },
       LOSS "477", "nll_loss_backward_reduce_cuda_kernel_2d", "t < n_classes"},
      {"U34",
       [](O on) {
         at::nll_loss2d_backward(scalar(1), at::zeros({1, 3, 2, 2}, on), pixels({3, 0, 0, 0}), {}, kMean, -100,
                                 scalar(1));
       },
       LOSS2D "197", "nll_loss2d_backward_kernel", kTarget},
      {"U34 reads 64 bits",
       [](O on) {
         at::nll_loss2d_backward(scalar(1), at::zeros({1, 3, 2, 2}, on), pixels({kWrap, 0, 0, 0}), {}, kMean, -100,
                                 scalar(1));
       },
       LOSS2D "197", "nll_loss2d_backward_kernel", kTarget},
      {"U35",
       [](O on) {
         at::nll_loss2d_backward(at::ones({1, 2, 2}, on), at::zeros({1, 3, 2, 2}, on), pixels({3, 0, 0, 0}), {}, kNone,
                                 -100, scalar(1));
       },
       LOSS2D "160", "nll_loss2d_backward_no_reduce_kernel", kCurTarget},
  };
}

class AtenAssertTest : public AtenTest {};

TEST_F(AtenAssertTest, Indexing) { expect_asserts(index_asserts()); }
TEST_F(AtenAssertTest, Losses) { expect_asserts(loss_asserts()); }

// The value's upper half is dropped before it is checked: CUDA takes these for legal, and so must we.
TEST_F(AtenAssertTest, NarrowedValuesPassUnseen) {
  const at::TensorOptions on = at::TensorOptions(vcuda_device()).dtype(at::kFloat);
  EXPECT_TRUE(at::equal(at::arange(4, on).index_select(0, labels({kWrap + 1})).cpu(), at::ones(1)));
  const Tensor logits = on_device(at::arange(12, at::kFloat).reshape({1, 3, 2, 2}));
  const Tensor wrapped = at::nll_loss_nd(logits, pixels({kWrap + 1, 2, 0, 3 * kWrap}));
  EXPECT_TRUE(at::equal(wrapped.cpu(), at::nll_loss_nd(logits, pixels({1, 2, 0, 0})).cpu()));
  // CUDA returns before the launch when there is nothing to copy.
  EXPECT_EQ(at::zeros({4, 0}, on).index_select(0, labels({9})).sizes(), at::IntArrayRef({1, 0}));
  EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);
}

TEST_F(AtenAssertTest, EveryFailingThreadPrintsALine) {
  const std::string printed = printed_by([] {
    at::nll_loss(at::zeros({5, 3}, at::TensorOptions(vcuda_device())), labels({3, 0, -1, 2, 9}), {}, kNone);
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::assert_triggered);
  });
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 3);
  for (const char* thread :
       {"block: [0,0,0], thread: [0,0,0]", "block: [0,0,0], thread: [2,0,0]", "block: [0,0,0], thread: [4,0,0]"}) {
    EXPECT_THAT(printed, HasSubstr(thread));
  }
}

}  // namespace
