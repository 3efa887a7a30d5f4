// Grids, failed asserts, barriers and the error model, each as CUDA documents it.
#include <limits>
#include <thread>

#include "tests/kernels/test_kernels.h"
#include "tests/kernels/vcuda_fixture.h"

namespace {

using namespace test_kernels;
using vcuda::Dim3;
using vcuda::Error;

class LaunchTest : public VcudaTest {};

TEST_F(LaunchTest, EveryThreadRunsOnce) {
  const struct {
    const char* name;
    Dim3 grid, block;
  } rows[] = {
      {"one", {1}, {1}},
      {"one block", {1}, {1024}},
      {"many blocks", {70000}, {1}},
      {"3-d", {2, 3, 2}, {4, 2, 3}},
      {"deepest block", {1}, {1, 1, 64}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const std::size_t count =
        std::size_t{row.grid.x} * row.grid.y * row.grid.z * row.block.x * row.block.y * row.block.z;
    int* const out = device_array<int>(count);
    write_index(out, {row.grid, row.block});
    EXPECT_EQ(vcuda::synchronize(), Error::none);
    const std::vector<int> got = peek(out, count);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(got[i], static_cast<int>(i));
  }
}

TEST_F(LaunchTest, AThreadMayEndItsRowOnly) {
  constexpr unsigned kWidth = 8, kRows = 6;
  for (const unsigned width : {0u, 1u, 5u, 8u, 9u}) {
    SCOPED_TRACE(width);
    int* const out = to_device(std::vector<int>(kWidth * kRows, 0));
    count_in_rows(out, width, {{2}, {kWidth, kRows / 2}});
    EXPECT_EQ(vcuda::synchronize(), Error::none);
    const std::vector<int> got = peek(out, kWidth * kRows);
    for (unsigned i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i % kWidth < width ? 1 : 0) << i;
  }
}

TEST_F(LaunchTest, QuotientsByMultiplicationAreExact) {
  constexpr std::int64_t k32 = std::int64_t{1} << 32, kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> numbers{1,       2,       3,         5,           7,       10,
                                          641,     65'537,  1 << 16,   k32 / 2 - 1, k32 / 2, k32,
                                          k32 - 1, k32 + 1, 6'700'417, kMost / 2,   kMost};
  for (const std::int64_t number : numbers) {
    SCOPED_TRACE(number);
    std::vector<std::int64_t> values{0, 1, 2, k32 - 2, k32 - 1, k32, k32 + 1, kMost - 1, kMost};
    // Where a rounded quotient would first be wrong: beside multiples of the number.
    for (const std::int64_t near : {std::int64_t{1}, std::int64_t{3}, (k32 - 1) / number, kMost / number}) {
      for (const std::int64_t beside : {-1, 0, 1}) {
        std::int64_t value = 0;
        if (!__builtin_mul_overflow(near, number, &value) && !__builtin_add_overflow(value, beside, &value) &&
            value >= 0)
          values.push_back(value);
      }
    }
    const std::int64_t* const in = to_device(values);
    std::int64_t* const out = device_array<std::int64_t>(values.size());
    quotients(in, number, out, {{1}, {static_cast<unsigned>(values.size())}});
    EXPECT_EQ(vcuda::synchronize(), Error::none);
    const std::vector<std::int64_t> got = peek(out, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(got[i], values[i] / number) << values[i];
  }
}

TEST_F(LaunchTest, InvalidConfigurationIsNotSticky) {
  const struct {
    const char* name;
    Dim3 grid, block;
    Error wanted;
  } rows[] = {
      {"no threads", {1}, {0}, Error::invalid_configuration},
      {"no blocks", {0}, {1}, Error::invalid_configuration},
      {"no blocks in z", {1, 1, 0}, {1}, Error::invalid_configuration},
      {"largest block", {1}, {1024}, Error::none},
      {"one too many", {1}, {1025}, Error::invalid_configuration},
      {"product at the limit", {1}, {32, 32}, Error::none},
      {"product over the limit", {1}, {32, 33}, Error::invalid_configuration},
      {"block too deep", {1}, {1, 1, 65}, Error::invalid_configuration},
      {"grid widest in y", {1, 65535}, {1}, Error::none},
      {"grid too wide in y", {1, 65536}, {1}, Error::invalid_configuration},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    empty({row.grid, row.block});
    EXPECT_EQ(vcuda::peek_error(), row.wanted);
    EXPECT_EQ(vcuda::synchronize(), Error::none);
    EXPECT_EQ(vcuda::check_launch(), row.wanted);
    EXPECT_EQ(vcuda::check_launch(), Error::none);
  }
  empty({1, 0});
  EXPECT_EQ(vcuda::get_error(), Error::invalid_configuration);
  EXPECT_EQ(vcuda::get_error(), Error::none);
  empty({1, 1, 12345});  // no such stream
  EXPECT_EQ(vcuda::check_launch(), Error::invalid_resource_handle);
}

TEST_F(LaunchTest, AssertPrintsOneLineForEachFailingThreadInOrder) {
  const int* const values = to_device<int>({0, 9, 1, 9, 1, 9});
  const std::string text = printed_by([&] { assert_below(values, 5, {3, 2}); });
  const std::string begin = "/pytorch/aten/src/ATen/native/cuda/Test.cu:12: assert_below_kernel: block: [";
  EXPECT_EQ(text, begin + "0,0,0], thread: [1,0,0] Assertion `value < bound` failed.\n" +      //
                      begin + "1,0,0], thread: [1,0,0] Assertion `value < bound` failed.\n" +  //
                      begin + "2,0,0], thread: [1,0,0] Assertion `value < bound` failed.\n");
}

TEST_F(LaunchTest, OtherThreadsGoOnAfterAnAssert) {
  const int* const values = to_device<int>({9, 0, 9, 0, 0, 9});
  int* const out = device_array<int>(6);
  printed_by([&] { assert_then_write(values, 5, out, {2, 3}); });
  EXPECT_THAT(peek(out, 6), testing::ElementsAre(0, 1, 0, 1, 1, 0));
  EXPECT_EQ(vcuda::synchronize(), Error::assert_triggered);
}

TEST_F(LaunchTest, AllThreadsMayFail) {
  const int* const values = to_device(std::vector<int>(4096, 9));
  const std::string text = printed_by([&] { assert_below(values, 5, {4, 1024}); });
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4096);
}

TEST_F(LaunchTest, PrintedLinesAreBounded) {
  vcuda::options().printed_bytes = 1000;
  const int* const values = to_device(std::vector<int>(1024, 9));
  const std::string text = printed_by([&] { assert_below(values, 5, {1, 1024}); });
  EXPECT_LE(text.size(), 1000u);
  EXPECT_GE(text.size(), 800u);  // whole lines of some 140 bytes
  EXPECT_EQ(text.back(), '\n');
}

TEST_F(LaunchTest, AssertIsAsynchronousAndSticky) {
  const int* const values = to_device<int>({9});
  int* const out = device_array<int>(1);
  printed_by([&] { assert_below(values, 5, {}); });
  EXPECT_EQ(vcuda::check_launch(), Error::none) << "the launch itself does not know yet";
  void* more = nullptr;
  EXPECT_EQ(vcuda::allocate(&more, 4), Error::assert_triggered);
  EXPECT_EQ(more, nullptr);
  EXPECT_EQ(vcuda::synchronize(), Error::assert_triggered);
  EXPECT_EQ(vcuda::peek_error(), Error::assert_triggered);
  EXPECT_EQ(vcuda::get_error(), Error::assert_triggered);
  EXPECT_EQ(vcuda::get_error(), Error::assert_triggered);
  int host = 0;
  EXPECT_EQ(vcuda::copy(&host, out, sizeof host), Error::assert_triggered);
  EXPECT_EQ(vcuda::fill(out, 0, sizeof host), Error::assert_triggered);
  store(out);
  EXPECT_EQ(*out, 0) << "nothing runs on a poisoned context";
  EXPECT_EQ(vcuda::check_launch(), Error::assert_triggered) << "known since the launch before";
  EXPECT_EQ(vcuda::deallocate(out), Error::assert_triggered);
}

TEST_F(LaunchTest, BlockingLaunchReturnsItsOwnFailure) {
  vcuda::options().blocking = true;
  const int* const values = to_device<int>({9});
  printed_by([&] { assert_below(values, 5, {}); });
  EXPECT_EQ(vcuda::check_launch(), Error::assert_triggered);
}

TEST_F(LaunchTest, ResetForgetsTheFailure) {
  const int* const values = to_device<int>({9});
  printed_by([&] { assert_below(values, 5, {}); });
  EXPECT_EQ(vcuda::synchronize(), Error::assert_triggered);
  vcuda::reset_contexts();
  EXPECT_EQ(vcuda::synchronize(), Error::none);
  int* const out = device_array<int>(1);
  store(out);
  EXPECT_EQ(*out, 7);
}

TEST_F(LaunchTest, OneDevicesFailureLeavesTheOtherAlone) {
  const int* const values = to_device<int>({9});
  printed_by([&] { assert_below(values, 5, {}); });
  ASSERT_EQ(vcuda::set_device(1), Error::none);
  EXPECT_EQ(vcuda::synchronize(), Error::none);
  int* const out = device_array<int>(1);
  store(out);
  EXPECT_EQ(vcuda::check_launch(), Error::none);
  EXPECT_EQ(*out, 7);
  ASSERT_EQ(vcuda::set_device(0), Error::none);
  EXPECT_EQ(vcuda::synchronize(), Error::assert_triggered);
}

TEST_F(LaunchTest, FaultAfterAssertEndsTheGridAndTheFirstErrorStays) {
  const std::string text = printed_by([&] { assert_then_store_at(nullptr, {4, 2}); });
  EXPECT_EQ(std::count(text.begin(), text.end(), '`'), 2) << "block 1 never ran";
  EXPECT_THAT(text, testing::HasSubstr("Invalid __global__ write of size 4 bytes\n"));
  EXPECT_EQ(vcuda::synchronize(), Error::assert_triggered);
}

TEST_F(LaunchTest, TemplateInstanceInParentheses) {
  float* const out = device_array<float>(1);
  template_write(out);
  EXPECT_EQ(*out, 4.0f);
  const std::string text = printed_by([] { template_write(nullptr); });
  EXPECT_THAT(text, testing::HasSubstr("=========     at template_kernel\n"));
}

TEST_F(LaunchTest, BarriersAndSharedMemory) {
  for (const int block : {1, 2, 32, 1024}) {
    SCOPED_TRACE(block);
    std::vector<int> values(static_cast<std::size_t>(block));
    int wanted = 0;
    for (int i = 0; i < block; ++i) wanted += values[static_cast<std::size_t>(i)] = i * 3 + 1;
    int* const out = device_array<int>(1);
    sum_with_barriers(to_device(values), block, out, block);
    EXPECT_EQ(vcuda::synchronize(), Error::none);
    EXPECT_EQ(*out, wanted);
  }
}

TEST_F(LaunchTest, ThreadsThatEndedDoNotHoldABarrier) {
  int* const out = device_array<int>(64);
  barrier_with_early_exit(out, 64);
  EXPECT_EQ(vcuda::synchronize(), Error::none);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], i % 2 == 0 ? 32 : 0);
}

TEST_F(LaunchTest, AssertBetweenBarriers) {
  int* const out = device_array<int>(4);
  const std::string text = printed_by([&] { barrier_then_assert(out, 4); });
  EXPECT_EQ(text,
            "/pytorch/aten/Test.cu:2: barrier_assert_kernel: block: [0,0,0], thread: [1,0,0] Assertion `not thread 1` "
            "failed.\n");
  EXPECT_THAT(peek(out, 4), testing::ElementsAre(1, 0, 1, 1));
}

TEST_F(LaunchTest, FaultBetweenBarriersEndsTheBlockAndTheNextGridWorks) {
  int* const out = device_array<int>(4);
  const std::string text = printed_by([&] { barrier_then_fault(out, nullptr, 4); });
  EXPECT_THAT(text, testing::HasSubstr("by thread (1,0,0) in block (0,0,0)\n"));
  EXPECT_THAT(peek(out, 4), testing::ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(vcuda::synchronize(), Error::illegal_address);
  vcuda::reset_contexts();
  int* const sum = device_array<int>(1);
  sum_with_barriers(to_device<int>({1, 2, 3, 4}), 4, sum, 4);
  EXPECT_EQ(*sum, 10);
}

TEST_F(LaunchTest, ThreadsOfARowRunAsOne) {
  for (const int count : {1, 2, 3, 8, 31, 32}) {
    SCOPED_TRACE(count);
    const std::size_t size = 3 * static_cast<std::size_t>(count);
    std::vector<int> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<int>(i) + 7;
    int* const out = device_array<int>(size);
    copy_in_rows(to_device(values), to_device(std::vector<int>(size, 32)), out, count, {3, 32});
    EXPECT_EQ(vcuda::synchronize(), Error::none);
    EXPECT_EQ(peek(out, size), values);
  }
}

TEST_F(LaunchTest, AFailedAssertAmongThreadsThatRunAsOneIsEachThreadsOwn) {
  constexpr int kCount = 8;
  std::vector<int> limits(2 * kCount, 32);
  limits[kCount + 3] = limits[kCount + 5] = 0;
  const std::vector<int> values(2 * kCount, 1);
  int* const out = device_array<int>(2 * kCount);
  const std::string text =
      printed_by([&] { copy_in_rows(to_device(values), to_device(limits), out, kCount, {2, 32}); });
  const auto line = [](int x) {
    return "/pytorch/aten/Test.cu:9: copy_in_rows_kernel: block: [1,0,0], thread: [" + std::to_string(x) +
           ",0,0] Assertion `i < limits[i]` failed.\n";
  };
  EXPECT_EQ(text, line(3) + line(5));
  EXPECT_THAT(peek(out, 2 * kCount), testing::ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1));
}

TEST_F(LaunchTest, AFaultAmongThreadsThatRunAsOneIsTheFirstThreadsOwn) {
  const std::vector<int> values(8, 1), limits(16, 32);
  int* const out = device_array<int>(16);
  const std::string text = printed_by([&] { copy_in_rows(to_device(values), to_device(limits), out, 10, {1, 32}); });
  EXPECT_THAT(text, testing::HasSubstr("Invalid __global__ read of size 4 bytes"));
  EXPECT_THAT(text, testing::HasSubstr("by thread (8,0,0) in block (0,0,0)\n"));
  EXPECT_THAT(peek(out, 10), testing::ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 0, 0));
}

TEST_F(LaunchTest, ThreadsRunAsOneUpToABarrier) {
  for (const unsigned block : {1u, 2u, 33u, 64u}) {
    SCOPED_TRACE(block);
    std::vector<int> values(std::size_t{3} * block);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
    int* const out = device_array<int>(3);
    sum_joined(to_device(values), 1000, out, {3, block});
    EXPECT_EQ(vcuda::synchronize(), Error::none);
    const int width = static_cast<int>(block), first = width * (width - 1) / 2;
    EXPECT_THAT(peek(out, 3), testing::ElementsAre(first, first + width * width, first + 2 * width * width));
  }
}

TEST_F(LaunchTest, AThreadThatRunsForItsBlockGoesOnOverAllOfTheGrid) {
  const std::vector<int> values(std::size_t{6} * 32, 1);
  int* const out = device_array<int>(3);
  sum_joined(to_device(values), 5, out, {{3, 2}, 32});  // blockIdx.y is not read: each sum is written twice
  EXPECT_EQ(vcuda::synchronize(), Error::none);
  EXPECT_THAT(peek(out, 3), testing::ElementsAre(32, 32, 32));
  const std::string text = printed_by([&] { sum_joined(to_device(values), 1, out, {{2, 2}, 1}); });
  for (const char* block : {"[0,0,0]", "[1,0,0]", "[0,1,0]", "[1,1,0]"}) {
    EXPECT_THAT(text, testing::HasSubstr(std::string("block: ") + block + ", thread: [0,0,0]"));
  }
}

TEST_F(LaunchTest, AFailedAssertBeforeABarrierIsEachThreadsOwn) {
  std::vector<int> values(std::size_t{5} * 32, 1);
  values[64 + 3] = values[64 + 31] = values[128] = 5;
  int* const out = device_array<int>(5);
  const std::string text = printed_by([&] { sum_joined(to_device(values), 5, out, {5, 32}); });
  const auto line = [](int block, int x) {
    return "/pytorch/aten/Test.cu:10: joined_sum_kernel: block: [" + std::to_string(block) + ",0,0], thread: [" +
           std::to_string(x) + ",0,0] Assertion `value < bound` failed.\n";
  };
  EXPECT_EQ(text, line(2, 3) + line(2, 31) + line(4, 0));
  EXPECT_EQ(vcuda::synchronize(), Error::assert_triggered);
  const std::vector<int> sums = peek(out, 4);
  for (const std::size_t healthy : {0u, 1u, 3u}) EXPECT_EQ(sums[healthy], 32) << "block " << healthy;
}

TEST_F(LaunchTest, AFaultBeforeABarrierIsTheFirstThreadsOwn) {
  int* const out = device_array<int>(1);
  const std::string text = printed_by([&] { sum_joined(to_device(std::vector<int>(10, 1)), 5, out, {1, 32}); });
  EXPECT_THAT(text, testing::HasSubstr("Invalid __global__ read of size 4 bytes"));
  EXPECT_THAT(text, testing::HasSubstr("by thread (10,0,0) in block (0,0,0)\n"));
  EXPECT_EQ(vcuda::synchronize(), Error::illegal_address);
  vcuda::reset_contexts();
  const std::string overrun = printed_by([&] { sum_joined(to_device(std::vector<int>(65, 1)), 5, nullptr, {1, 65}); });
  EXPECT_THAT(overrun, testing::HasSubstr("Invalid __shared__ write of size 4 bytes"));
  EXPECT_THAT(overrun, testing::HasSubstr("by thread (64,0,0) in block (0,0,0)\n"));
}

TEST_F(LaunchTest, AskedOnceAGrid) {
  int* const values = device_array<int>(10);
  int* const out = device_array<int>(4);
  const auto answers = [&](const int* from, int count) {
    ask_once(from, count, out, {2, 2});
    EXPECT_EQ(vcuda::synchronize(), Error::none);
    return peek(out, 4);
  };
  EXPECT_THAT(answers(values, 10), testing::Each(1));
  EXPECT_THAT(answers(values, 11), testing::Each(0)) << "one past the end";
  EXPECT_THAT(answers(values + 3, 7), testing::Each(1));
  EXPECT_EQ(vcuda::deallocate(values), Error::none);
  EXPECT_THAT(answers(values, 10), testing::Each(0)) << "freed since the last grid";
  int* const watched = device_array<int>(10);
  vcuda::options().tool = vcuda::Tool::initcheck;
  int* const seen = device_array<int>(10);
  EXPECT_THAT(answers(watched, 10), testing::Each(0)) << "a tool wants to see every access";
  EXPECT_THAT(answers(seen, 10), testing::Each(0));
  vcuda::options().tool = vcuda::Tool::memcheck;
}

TEST_F(LaunchTest, Atomics) {
  std::int64_t* const integer = device_array<std::int64_t>(1);
  float* const real = device_array<float>(1);
  int* const largest = device_array<int>(1);
  add_atomically(integer, real, largest, {4, 256});
  EXPECT_EQ(*integer, 2048);
  EXPECT_EQ(*real, 512.0f);
  EXPECT_EQ(*largest, 1023);
  add_atomically(integer, real, largest, {256, 1024});  // large enough to be spread over host threads
  EXPECT_EQ(*integer, 2048 + 2 * 262'144);
  EXPECT_EQ(*real, 512.0f + 131'072.0f);
  EXPECT_EQ(*largest, 262'143);
}

TEST_F(LaunchTest, TwoHostThreads) {
  constexpr std::size_t kCount = 256;
  std::vector<int*> outs(2);
  std::vector<std::thread> hosts;
  for (int device = 0; device < 2; ++device) {
    hosts.emplace_back([&outs, device] {
      vcuda::set_device(device);
      int* const out = outs[static_cast<std::size_t>(device)] = device_array<int>(kCount);
      int* const sum = device_array<int>(1);
      int* const values = to_device(std::vector<int>(kCount, 1));
      for (int round = 0; round < 200; ++round) {
        write_index(out, {1, kCount});
        sum_with_barriers(values, kCount, sum, kCount);
        EXPECT_EQ(vcuda::check_launch(), Error::none);
      }
      EXPECT_EQ(*sum, static_cast<int>(kCount));
    });
  }
  for (std::thread& host : hosts) host.join();
  for (const int* out : outs) EXPECT_EQ(out[kCount - 1], static_cast<int>(kCount) - 1);
  EXPECT_EQ(vcuda::current_device(), 0) << "each host thread has its own";
}

}  // namespace
