// Illegal inputs of pools, bags, repeats and segments: which assert a CUDA device prints for them, row by row of the
// catalogue of device asserts in PyTorch 2.11; where it says nothing; and what the host refuses.
#include <functional>

#include "tests/kernels/aten_fixture.h"

namespace {

using at::Tensor;
using testing::HasSubstr;

constexpr std::int64_t kWrap = std::int64_t{1} << 32;

struct Assert {
  const char* row;
  std::function<void()> call;
  const char* where;  // file and line, from ATen/native/cuda/ on
  const char* function;
  const char* condition;
  const char* thread = "block: [0,0,0], thread: [0,0,0]";
};

Tensor on_device(const Tensor& tensor) { return tensor.to(vcuda_device()); }
Tensor ids(std::vector<std::int64_t> values, at::ScalarType type = at::kLong) {
  return on_device(longs(std::move(values), type));
}
Tensor ids(std::vector<std::int64_t> values, at::IntArrayRef shape) { return ids(std::move(values)).reshape(shape); }
Tensor ones(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) { return on_device(at::ones(sizes, type)); }

enum Mode : std::int64_t { kSum = 0, kMean = 1, kMax = 2 };

Tensor bag(const Tensor& indices, const Tensor& offsets, const Tensor& weight, Mode mode,
           const Tensor& sample_weights = {}, bool last = false) {
  const auto samples = sample_weights.defined() ? std::optional<Tensor>(sample_weights) : std::nullopt;
  return std::get<0>(at::embedding_bag(weight, indices, offsets, false, mode, false, samples, last));
}

Tensor segments(const Tensor& data, const char* reduce, const Tensor& lengths, std::int64_t axis = 0) {
  return at::segment_reduce(data, reduce, lengths, {}, {}, axis, /*unsafe=*/true);
}

// The overload of indices; with a number as the second argument another one would be taken.
Tensor repeat(const Tensor& repeats, std::optional<std::int64_t> output_size = std::nullopt) {
  return at::repeat_interleave(repeats, output_size);
}

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

Tensor table() { return ones({4, 4}); }
Tensor four() { return ids({0, 1, 2, 3}); }

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
       "Repeat.cu:20", "compute_cuda_kernel", kRepeats, "thread: [511,0,0]"},
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
       "FractionalMaxPool2d.cu:120", kFractional2d, "index >= 0", "thread: [15,0,0]"},
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
       "FractionalMaxPool3d.cu:146", kFractional3d, "inputT < gradInput.size(2)", "thread: [7,0,0]"},
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

std::string fault(const std::string& printed) {
  const auto at = printed.find("Invalid __global__");
  return at == std::string::npos ? "" : printed.substr(at, printed.find('\n', at) - at);
}

class AtenPoolingTest : public AtenTest {
 protected:
  // What the call prints; the device's error is left for synchronize().
  static std::string run(const std::function<void()>& call) {
    vcuda::reset_contexts();
    return printed_by([&] {
      try {
        call();
      } catch (const c10::AcceleratorError&) {
        // The operator went on to another call, which found the error.
      }
    });
  }

  static void expect_asserts(const std::vector<Assert>& rows) {
    for (const Assert& row : rows) {
      SCOPED_TRACE(row.row);
      const std::string printed = run(row.call);
      EXPECT_EQ(vcuda::synchronize(), vcuda::Error::assert_triggered);
      EXPECT_THAT(printed, HasSubstr(std::string("/pytorch/aten/src/ATen/native/cuda/") + row.where + ": " +
                                     row.function + ": block: ["));
      EXPECT_THAT(printed, HasSubstr(row.thread));
      EXPECT_THAT(printed, HasSubstr(std::string("] Assertion `") + row.condition + "` failed.\n"));
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

struct Silent {
  const char* row;
  std::function<Tensor()> call;
  Tensor value;
};

// What a GPU accepts without a word.
TEST_F(AtenPoolingTest, SilentRows) {
  const Tensor zeros2 = at::zeros({1, 1, 2, 2}), zeros3 = at::zeros({1, 1, 2, 2, 2});
  const Silent rows[] = {
      {"S01 max_unpool2d",
       [] {
         return at::max_unpool2d(ones({1, 1, 2}), ids({0, kWrap + 3}, {1, 1, 2}), {2, 2});
       },
       at::tensor({1.f, 0.f, 0.f, 1.f}).reshape({1, 2, 2})},
      {"S05 sum",
       [] {
         return segments(ones({4}), "sum", ids({2, -1, 3}));
       },
       at::tensor({2.f, 0.f, 3.f})},
      {"S05 decreasing offsets",
       [] {
         return at::segment_reduce(ones({4}), "sum", {}, {}, ids({0, 3, 1}));
       },
       at::tensor({3.f, 0.f})},
      {"S09 the first offset counts as zero",
       [] {
         return bag(four(), ids({1, 2}), table(), kSum);
       },
       at::full({2, 4}, 2.f)},
      {"S14 max_pool2d above",
       [] {
         return at::max_pool2d_with_indices_backward(ones({1, 1, 1, 1}), ones({1, 1, 2, 2}), {2, 2}, {2, 2}, {0, 0},
                                                     {1, 1}, false, ids({9}, {1, 1, 1, 1}));
       },
       zeros2},
      {"S14 max_pool3d, -1",
       [] {
         return at::max_pool3d_with_indices_backward(ones({1, 1, 1, 1, 1}), ones({1, 1, 2, 2, 2}), {2, 2, 2}, {2, 2, 2},
                                                     {0, 0, 0}, {1, 1, 1}, false, ids({-1}, {1, 1, 1, 1, 1}));
       },
       zeros3},
      {"S14 adaptive, into the next plane",
       [] {
         return at::adaptive_max_pool2d_backward(ones({1, 2, 1, 1}), ones({1, 2, 1, 1}), ids({1, 0}, {1, 2, 1, 1}));
       },
       at::tensor({0.f, 2.f}).reshape({1, 2, 1, 1})},
  };
  for (const Silent& row : rows) {
    SCOPED_TRACE(row.row);
    vcuda::reset_contexts();
    Tensor got;
    EXPECT_EQ(printed_by([&] { got = row.call().cpu(); }), "");
    EXPECT_TRUE(at::equal(got, row.value)) << got;
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);
  }
}

struct Fault {
  const char* row;
  std::function<void()> call;
  const char* report;
};

// Where a GPU reads or writes beyond the tensor without an assert: the access itself is found.
TEST_F(AtenPoolingTest, OutOfBoundsAccesses) {
  const auto dense = [](std::int64_t index, std::int64_t bag) {
    at::_embedding_bag_dense_backward(ones({1, 4}), ids({index}), ids({bag}), ids({1}), ids({0}), 4, false, kSum, {});
  };
  const Fault rows[] = {
      {"S09 interior offset",
       [] {
         bag(four(), ids({0, 5, 4}), table(), kSum);
       },
       "Invalid __global__ read of size 8 bytes"},
      {"S09 last offset, which is the end of the bag before",
       [] {
         bag(four(), ids({0, 5}), table(), kMean);
       },
       "Invalid __global__ read of size 8 bytes"},
      {"S14 adaptive 2d",
       [] {
         at::adaptive_max_pool2d_backward(ones({1, 1, 1, 1}), ones({1, 1, 2, 2}), ids({9}, {1, 1, 1, 1}));
       },
       "Invalid __global__ atomic of size 4 bytes"},
      {"S14 adaptive 3d, half",
       [] {
         at::adaptive_max_pool3d_backward(ones({1, 1, 1, 1, 1}, at::kHalf), ones({1, 1, 2, 2, 2}, at::kHalf),
                                          ids({9}, {1, 1, 1, 1, 1}));
       },
       "Invalid __global__ atomic of size 2 bytes"},
      {"S14 max_pool3d",
       [] {
         at::max_pool3d_with_indices_backward(ones({1, 1, 1, 1, 1}), ones({1, 1, 2, 2, 2}), {2, 2, 2}, {2, 2, 2},
                                              {0, 0, 0}, {1, 1, 1}, false, ids({9}, {1, 1, 1, 1, 1}));
       },
       "Invalid __global__ atomic of size 4 bytes"},
      {"S18 index", [&] { dense(9, 0); }, "Invalid __global__"},
      {"S18 bag", [&] { dense(0, 9); }, "Invalid __global__ read of size 4 bytes"},
      {"S18 sample weights",
       [] {
         at::_embedding_bag_per_sample_weights_backward(ones({1, 4}), table(), ids({9}), ids({0}), ids({0}), kSum);
       },
       "Invalid __global__ read of size 4 bytes"},
      {"S05 lengths beyond the data",
       [] {
         segments(ones({4}), "sum", ids({2, 3}));
       },
       "Invalid __global__ read of size 4 bytes"},
  };
  for (const Fault& row : rows) {
    SCOPED_TRACE(row.row);
    EXPECT_THAT(fault(run(row.call)), HasSubstr(row.report));
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::illegal_address);
  }
}

struct Refused {
  const char* row;
  std::function<void()> call;
  const char* text;
};

// Checked on the host: the device goes on.
TEST_F(AtenPoolingTest, HostChecks) {
  const Refused rows[] = {
      {"H06",
       [] {
         at::segment_reduce(ones({4}), "sum", ids({-1, 5}));
       },
       "lengths contains negative value!"},
      {"H07",
       [] {
         repeat(ids({1, -1, 2}));
       },
       "repeats can not be negative"},
      {"repeats of bytes", [] { repeat(ids({1}, at::kByte)); }, "not implemented for 'Byte'"},
      {"bags of floats", [] { bag(ones({1}), ids({0}), table(), kSum); }, "embedding_bag_cuda"},
      {"unpooling with int32",
       [] {
         at::max_unpool2d(ones({1, 1, 1}), ids({0}, at::kInt).reshape({1, 1, 1}), {2, 2});
       },
       "elements in indices should be type int64"},
      {"unpooling bools",
       [] {
         at::max_unpool2d(ones({1, 1, 1}, at::kBool), ids({0}, {1, 1, 1}), {2, 2});
       },
       "\"max_unpooling2d_forward_kernel\" not implemented for 'Bool'"},
      {"mixed devices",
       [] {
         at::max_unpool2d(ones({1, 1, 1}), at::zeros({1, 1, 1}, at::kLong), {2, 2});
       },
       "Expected all tensors to be on the same device"},
      {"gradient of the wrong size",
       [] {
         at::fractional_max_pool3d_backward(ones({1, 1, 1, 1}), ones({1, 2, 2, 2}), {1, 1, 1}, {2, 1, 1},
                                            ids({0}, {1, 1, 1, 1}));
       },
       "gradOutput time unexpected"},
  };
  for (const Refused& row : rows) {
    SCOPED_TRACE(row.row);
    vcuda::reset_contexts();
    try {
      row.call();
      ADD_FAILURE() << "accepted";
    } catch (const c10::AcceleratorError& error) {
      ADD_FAILURE() << error.what();
    } catch (const c10::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(row.text));
    }
    EXPECT_EQ(vcuda::synchronize(), vcuda::Error::none);
  }
}

TEST_F(AtenPoolingTest, BagValues) { compare(bag_rows()); }
}  // namespace
