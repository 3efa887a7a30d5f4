// Illegal inputs of pools, bags, repeats and segments that no assert stops: what a GPU accepts without a word, what it
// reads or writes out of bounds, and what the host refuses before.
#include "tests/kernels/aten_pooling_calls.h"

namespace {

using testing::HasSubstr;

std::string fault(const std::string& printed) {
  const auto at = printed.find("Invalid __global__");
  return at == std::string::npos ? "" : printed.substr(at, printed.find('\n', at) - at);
}

class AtenPoolingSilentTest : public PoolingTest {};

struct Silent {
  const char* row;
  std::function<Tensor()> call;
  Tensor value;
};

// What a GPU accepts without a word.
TEST_F(AtenPoolingSilentTest, SilentRows) {
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
TEST_F(AtenPoolingSilentTest, OutOfBoundsAccesses) {
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
      {"S09 an offset whose distance in bytes is a multiple of 2^64",
       [] {
         bag(four(), ids({0, std::int64_t{1} << 61, 4}), table(), kSum);
       },
       "Invalid __global__ read of size 8 bytes"},
      {"S09 the same, largest",
       [] {
         bag(four(), ids({0, std::int64_t{1} << 61, 4}), table(), kMax);
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
TEST_F(AtenPoolingSilentTest, HostChecks) {
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

}  // namespace
