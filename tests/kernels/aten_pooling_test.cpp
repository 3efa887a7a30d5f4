// Illegal inputs of pools, bags, repeats and segments: which assert a CUDA device prints for them, row by row of the
// catalogue of device asserts in PyTorch 2.11.
#include <functional>
#include <limits>

#include "tests/kernels/assert_rows.h"
#include "tests/kernels/aten_pooling_calls.h"

namespace {

using testing::HasSubstr;

struct Assert {
  const char* row;
  std::function<void()> call;
  const char* where;  // file and line, from ATen/native/cuda/ on
  const char* function;
  const char* condition;
  const char* thread = "block: [0,0,0], thread: [0,0,0]";
};

constexpr const char* kInvalidIndex =
    "!has_invalid_index && \"Invalid input index in EmbeddingBag: index out of range [0, numRows)\"";
constexpr const char* kSumMean = "EmbeddingBag_updateOutputKernel_sum_mean";
constexpr const char* kMaximum = "EmbeddingBag_updateOutputKernel_max";
constexpr const char* kEnds = "end >= begin";
constexpr const char* kRepeats = "result_size == cumsum_ptr[size - 1]";
constexpr const char* kUnpool2d = "max_unpooling2d_forward_kernel";
constexpr const char* kUnpool3d = "max_unpooling3d_forward_kernel";
constexpr const char* kMaxIndex = "maxind >= 0 && maxind < outputImageSize";
constexpr const char* kIndex = "index >= 0 && index < outputImageSize";
constexpr const char* kFractional2d = "fractional_max_pool2d_backward_out_cuda_frame";
constexpr const char* kFractional3d = "fractional_max_pool3d_backward_out_frame";
constexpr const char* kForward = "segment_reduce_forward_kernel";
constexpr const char* kLength = "lengths_data[lengths_idx] >= 0";

void fractional2d(const Tensor& indices) {
  at::fractional_max_pool2d_backward(ones({1, 1, 4, 4}), ones({1, 1, 8, 8}), {2, 2}, {4, 4}, indices);
}
void fractional3d(const Tensor& indices) {
  at::fractional_max_pool3d_backward(ones({1, 1, 2, 2, 2}), ones({1, 1, 4, 4, 4}), {2, 2, 2}, {2, 2, 2}, indices);
}
Tensor full(at::IntArrayRef sizes, std::int64_t value) { return on_device(at::full(sizes, value, at::kLong)); }

std::vector<Assert> bag_and_repeat_asserts() {
  return {
      {"U39 mean", [] { bag(ids({4}), ids({0}), table(), kMean); }, "EmbeddingBag.cu:149", kSumMean, kInvalidIndex},
      {"U39 sum, below", [] { bag(ids({-1}), ids({0}), table(), kSum); }, "EmbeddingBag.cu:149", kSumMean,
       kInvalidIndex},
      {"U39 weighted, int32",
       [] {
         bag(ids({0, 9}, at::kInt), ids({0, 1}, at::kInt), table(), kSum, ones({2}));
       },
       "EmbeddingBag.cu:149", kSumMean, kInvalidIndex, "block: [0,0,0], thread: [0,1,0]"},
      {"U39 far away", [] { bag(ids({kWrap}), ids({0}), table(), kSum); }, "EmbeddingBag.cu:149", kSumMean,
       kInvalidIndex},
      {"U39 half, second block of features",
       [] {
         bag(ids({7}), ids({0}), ones({4, 300}, at::kHalf), kSum);
       },
       "EmbeddingBag.cu:149", kSumMean, kInvalidIndex, "block: [1,0,0], thread: [11,1,0]"},
      {"U40", [] { bag(ids({4}), ids({0}), table(), kMax); }, "EmbeddingBag.cu:89", kMaximum, kInvalidIndex},
      {"U40 below", [] { bag(ids({-1}), ids({0}), table(), kMax); }, "EmbeddingBag.cu:89", kMaximum, kInvalidIndex},
      {"U41",
       [] {
         bag(four(), ids({0, 3, 1}), table(), kMean);
       },
       "EmbeddingBag.cu:138", kSumMean, kEnds, "block: [0,0,0], thread: [0,1,0]"},
      {"U41 negative offset",
       [] {
         bag(four(), ids({0, -1}), table(), kSum);
       },
       "EmbeddingBag.cu:138", kSumMean, kEnds},
      {"U41 an offset that is further from the end than 64 bits say",
       [] {
         bag(four(), ids({0, std::numeric_limits<std::int64_t>::min()}), table(), kSum);
       },
       "EmbeddingBag.cu:138", kSumMean, kEnds},
      {"U42 the same",
       [] {
         bag(four(), ids({0, std::numeric_limits<std::int64_t>::min()}), table(), kMax);
       },
       "EmbeddingBag.cu:77", kMaximum, kEnds},
      {"U41 last offset included",
       [] {
         bag(four(), ids({0, 3, 1, 4}), table(), kMean, {}, true);
       },
       "EmbeddingBag.cu:138", kSumMean, kEnds, "block: [0,0,0], thread: [0,1,0]"},
      {"U42",
       [] {
         bag(four(), ids({0, 3, 1}), table(), kMax);
       },
       "EmbeddingBag.cu:77", kMaximum, kEnds, "block: [0,0,0], thread: [0,1,0]"},
      {"U51",
       [] {
         repeat(ids({1, 2}), 5);
       },
       "Repeat.cu:20", "compute_cuda_kernel", kRepeats},
      {"U51 too small, of a tensor",
       [] {
         ones({3}).repeat_interleave(ids({1, 2, 3}, at::kInt), std::nullopt, 2);
       },
       "Repeat.cu:20", "compute_cuda_kernel", kRepeats, "block: [0,0,0], thread: [511,0,0]"},
      {"U52",
       [] {
         repeat(ids({1, -1, 2}), 2);
       },
       "Repeat.cu:33", "compute_cuda_kernel", "repeat >= 0", "block: [0,0,0], thread: [32,0,0]"},
  };
}

std::vector<Assert> pool_and_segment_asserts() {
  return {
      {"U53",
       [] {
         at::max_unpool2d(ones({1, 1, 1, 1}), ids({4}, {1, 1, 1, 1}), {2, 2});
       },
       "MaxUnpooling.cu:47", kUnpool2d, kMaxIndex},
      {"U53 below",
       [] {
         at::max_unpool2d(ones({1, 1, 1, 1}), ids({-1}, {1, 1, 1, 1}), {2, 2});
       },
       "MaxUnpooling.cu:47", kUnpool2d, kMaxIndex},
      {"U53 one dimension",
       [] {
         at::max_unpool2d(ones({1, 1, 1}), ids({2}, {1, 1, 1}), {2, 1});
       },
       "MaxUnpooling.cu:47", kUnpool2d, kMaxIndex},
      {"U53 the lower half is what counts",
       [] {
         at::max_unpool2d(ones({1, 1, 1, 2}), ids({0, kWrap + 4}, {1, 1, 1, 2}), {2, 2});
       },
       "MaxUnpooling.cu:47", kUnpool2d, kMaxIndex, "block: [0,0,0], thread: [1,0,0]"},
      {"U54",
       [] {
         at::max_unpool3d(ones({1, 1, 1, 1, 1}), ids({8}, {1, 1, 1, 1, 1}), {2, 2, 2}, {2, 2, 2}, {0, 0, 0});
       },
       "MaxUnpooling.cu:69", kUnpool3d, kIndex},
      {"U54 below, second frame",
       [] {
         at::max_unpool3d(ones({1, 2, 1, 1}), ids({0, -1}, {1, 2, 1, 1}), {2, 2, 2}, {2, 2, 2}, {0, 0, 0});
       },
       "MaxUnpooling.cu:69", kUnpool3d, kIndex, "block: [0,0,1], thread: [0,0,0]"},
      {"U54 reads 64 bits",
       [] {
         at::max_unpool3d(ones({1, 1, 1, 1}), ids({kWrap}, {1, 1, 1, 1}), {2, 2, 2}, {2, 2, 2}, {0, 0, 0});
       },
       "MaxUnpooling.cu:69", kUnpool3d, kIndex},
      {"U55",
       [] {
         fractional2d(full({1, 1, 4, 4}, -1));
       },
       "FractionalMaxPool2d.cu:120", kFractional2d, "index >= 0"},
      {"U55 the lower half is what counts",
       [] {
         fractional2d(full({1, 1, 4, 4}, kWrap - 1));
       },
       "FractionalMaxPool2d.cu:120", kFractional2d, "index >= 0", "block: [0,0,0], thread: [15,0,0]"},
      {"U56",
       [] {
         fractional2d(full({1, 1, 4, 4}, 64));
       },
       "FractionalMaxPool2d.cu:123", kFractional2d, "inputH < gradInput.size(2)"},
      {"U57",
       [] {
         fractional3d(full({1, 1, 2, 2, 2}, -1));
       },
       "FractionalMaxPool3d.cu:140", kFractional3d, "index >= 0"},
      {"U58",
       [] {
         fractional3d(full({1, 1, 2, 2, 2}, 64));
       },
       "FractionalMaxPool3d.cu:146", kFractional3d, "inputT < gradInput.size(2)", "block: [0,0,0], thread: [7,0,0]"},
      {"U58 reads 64 bits",
       [] {
         fractional3d(full({1, 1, 2, 2, 2}, kWrap));
       },
       "FractionalMaxPool3d.cu:146", kFractional3d, "inputT < gradInput.size(2)"},
      {"U59",
       [] {
         segments(ones({4}), "mean", ids({2, -1, 3}));
       },
       "SegmentReduce.cu:78", "post_sum_div_kernel", "lengths_data[index] >= 0", "block: [0,0,0], thread: [1,0,0]"},
      {"U60",
       [] {
         segments(ones({4, 2}), "sum", ids({2, -1, 3}));
       },
       "SegmentReduce.cu:146", kForward, kLength, "block: [0,0,0], thread: [3,0,0]"},
      {"U60 second axis, half",
       [] {
         segments(ones({2, 4}, at::kHalf), "max", ids({2, 2, 0, 2, -1, 3}, {2, 3}), 1);
       },
       "SegmentReduce.cu:146", kForward, kLength, "block: [0,0,0], thread: [4,0,0]"},
      {"U60 decreasing offsets",
       [] {
         at::segment_reduce(ones({4, 2}), "min", {}, {}, ids({0, 3, 1}));
       },
       "SegmentReduce.cu:146", kForward, kLength, "block: [0,0,0], thread: [2,0,0]"},
  };
}

class AtenPoolingTest : public PoolingTest {
 protected:
  static void expect_asserts(const std::vector<Assert>& rows) {
    for (const Assert& row : rows) {
      SCOPED_TRACE(row.row);
      expect_assert(row.call, std::string("aten/src/ATen/native/cuda/") + row.where, row.function, row.condition,
                    row.thread);
    }
  }
};

TEST_F(AtenPoolingTest, BagsAndRepeats) {
  testing::internal::CaptureStdout();  // repeats print there too
  expect_asserts(bag_and_repeat_asserts());
  testing::internal::GetCapturedStdout();
}
TEST_F(AtenPoolingTest, PoolsAndSegments) { expect_asserts(pool_and_segment_asserts()); }

// ATen's only assert with a message says both numbers on standard output, thread by thread.
TEST_F(AtenPoolingTest, RepeatsSayWhatTheyFound) {
  testing::internal::CaptureStdout();
  const std::string printed = run([] { repeat(ids({1, 2}), 5); });
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_THAT(said,
              HasSubstr("[CUDA_KERNEL_ASSERT] /pytorch/aten/src/ATen/native/cuda/Repeat.cu:20: compute_cuda_kernel: "
                        "block: [0,0,0], thread: [0,0,0]: Assertion failed: `result_size == cumsum_ptr[size - 1]`: "
                        "Invalid input! In `repeat_interleave`, the `output_size` argument (5) must be the same as the "
                        "sum of the elements in the `repeats` tensor (3).\n\n"));
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 512);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2 * 512);
}

}  // namespace
