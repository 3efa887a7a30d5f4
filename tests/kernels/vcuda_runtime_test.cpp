// Names and numbers of errors, devices, streams, and coverage.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "kernels/vcuda/coverage.h"
#include "tests/kernels/test_kernels.h"
#include "tests/kernels/vcuda_fixture.h"

namespace {

using vcuda::Error;

class RuntimeTest : public VcudaTest {
 protected:
  void TearDown() override { vcuda::set_coverage_map({}); }
};

TEST_F(RuntimeTest, ErrorsAreCudas) {
  // Numbers and texts as in CUDA 13's driver_types.h and cudaGetErrorString.
  const struct {
    Error error;
    int number;
    const char *name, *text;
    bool sticky;
  } rows[] = {
      {Error::none, 0, "cudaSuccess", "no error", false},
      {Error::invalid_value, 1, "cudaErrorInvalidValue", "invalid argument", false},
      {Error::out_of_memory, 2, "cudaErrorMemoryAllocation", "out of memory", false},
      {Error::invalid_configuration, 9, "cudaErrorInvalidConfiguration", "invalid configuration argument", false},
      {Error::invalid_device, 101, "cudaErrorInvalidDevice", "invalid device ordinal", false},
      {Error::invalid_resource_handle, 400, "cudaErrorInvalidResourceHandle", "invalid resource handle", false},
      {Error::illegal_address, 700, "cudaErrorIllegalAddress", "an illegal memory access was encountered", true},
      {Error::assert_triggered, 710, "cudaErrorAssert", "device-side assert triggered", true},
      {Error::misaligned_address, 716, "cudaErrorMisalignedAddress", "misaligned address", true},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(static_cast<int>(row.error), row.number);
    EXPECT_STREQ(vcuda::error_name(row.error), row.name);
    EXPECT_STREQ(vcuda::error_text(row.error), row.text);
    EXPECT_EQ(vcuda::is_sticky(row.error), row.sticky);
  }
}

TEST_F(RuntimeTest, Devices) {
  EXPECT_EQ(vcuda::device_count(), 2);
  for (const int bad : {-1, 2}) EXPECT_EQ(vcuda::set_device(bad), Error::invalid_device);
  EXPECT_EQ(vcuda::set_device(1), Error::none);
  EXPECT_EQ(vcuda::current_device(), 1);
  void* p = nullptr;
  ASSERT_EQ(vcuda::allocate(&p, 8), Error::none);
  EXPECT_EQ(vcuda::find_allocation(p).device, 1);
  vcuda::reset_contexts();
  EXPECT_EQ(vcuda::current_device(), 0);
}

TEST_F(RuntimeTest, Streams) {
  const vcuda::Stream a = vcuda::create_stream(0), b = vcuda::create_stream(1), c = vcuda::create_stream(1);
  EXPECT_NE(a, 0);
  EXPECT_NE(b, c);
  EXPECT_EQ(vcuda::stream_device(a), 0);
  EXPECT_EQ(vcuda::stream_device(c), 1);
  EXPECT_EQ(vcuda::stream_device(0), 0);
  EXPECT_EQ(vcuda::create_stream(2), 0);
  vcuda::set_current_stream(1, c);
  EXPECT_EQ(vcuda::current_stream(1), c);
  EXPECT_EQ(vcuda::current_stream(0), 0);
  test_kernels::empty({1, 1, c});
  EXPECT_EQ(vcuda::check_launch(), Error::none);
  vcuda::destroy_stream(c);
  EXPECT_FALSE(vcuda::stream_exists(c));
  EXPECT_EQ(vcuda::stream_device(c), -1);
  vcuda::reset_contexts();
  EXPECT_FALSE(vcuda::stream_exists(a));
  EXPECT_EQ(vcuda::current_stream(1), 0);
  EXPECT_EQ(vcuda::create_stream(0), a) << "as at start";
}

// The environment is read once, so each row needs a process of its own: a death test that runs this file anew.
TEST(OptionsTest, ComeFromTheEnvironment) {
  const struct {
    const char *name, *value;
    bool (*holds)(const vcuda::Options&);
    const char* printed;
  } rows[] = {
      {"DSAFUZZ_VCUDA_DEVICES", "16", [](const vcuda::Options& o) { return o.devices == 16; }, ""},
      {"DSAFUZZ_VCUDA_DEVICES", "17", [](const vcuda::Options& o) { return o.devices == 2; }, "DEVICES=17 is ignored"},
      {"DSAFUZZ_VCUDA_DEVICES", "0", [](const vcuda::Options& o) { return o.devices == 2; }, "is ignored"},
      {"DSAFUZZ_VCUDA_DEVICES", "2x", [](const vcuda::Options& o) { return o.devices == 2; }, "is ignored"},
      {"DSAFUZZ_VCUDA_MEMORY", "1048576", [](const vcuda::Options& o) { return o.memory_bytes == 1 << 20; }, ""},
      {"DSAFUZZ_VCUDA_MEMORY", "1048575", [](const vcuda::Options& o) { return o.memory_bytes == 1 << 30; },
       "is ignored"},
      {"CUDA_LAUNCH_BLOCKING", "1", [](const vcuda::Options& o) { return o.blocking; }, ""},
      {"CUDA_LAUNCH_BLOCKING", "0", [](const vcuda::Options& o) { return !o.blocking; }, ""},
      {"DSAFUZZ_VCUDA_CACHING", "1", [](const vcuda::Options& o) { return o.caching; }, ""},
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.name) + "=" + row.value);
    setenv(row.name, row.value, 1);
    EXPECT_EXIT(std::exit(row.holds(vcuda::options()) ? 0 : 1), testing::ExitedWithCode(0), row.printed);
    unsetenv(row.name);
  }
}

using Map = std::array<std::uint8_t, 1 << 16>;

int features(const Map& map) {
  return static_cast<int>(std::count_if(map.begin(), map.end(), [](std::uint8_t c) { return c != 0; }));
}

TEST_F(RuntimeTest, CoverageMapShowsWhatRan) {
  static Map map;
  map.fill(0);
  vcuda::collect_counters();
  vcuda::set_coverage_map(map);
  vcuda::collect_counters();
  EXPECT_EQ(features(map), 0) << "the first call emptied the counters";
  test_kernels::empty({});
  vcuda::collect_counters();
  const int of_empty = features(map);
  EXPECT_GT(of_empty, 0);
  const int* const values = to_device<int>({1});
  test_kernels::assert_below(values, 5, {});
  vcuda::collect_counters();
  const int with_assert = features(map);
  EXPECT_GT(with_assert, of_empty);
  const Map before = map;
  vcuda::collect_counters();
  EXPECT_EQ(map, before);
  map.fill(0);
  test_kernels::empty({});
  test_kernels::assert_below(values, 5, {});
  vcuda::collect_counters();
  EXPECT_EQ(map, before) << "the same run gives the same features";
}

TEST_F(RuntimeTest, CloserCompareIsANewFeature) {
  static Map map;
  map.fill(0);
  vcuda::set_coverage_map(map);
  int* const out = device_array<int>(1);
  int seen = 0;
  // Each row agrees with 0 in more leading bits than the one before.
  for (const int value : {-1, 1 << 20, 1 << 10, 8, 1}) {
    SCOPED_TRACE(value);
    test_kernels::compare_with(to_device<int>({value}), 0, out);
    const int now = features(map);
    EXPECT_GT(now, seen);
    seen = now;
    test_kernels::compare_with(to_device<int>({value}), 0, out);
    EXPECT_EQ(features(map), seen);
  }
}

// A GPU's counters, as the host finds them after a run.
TEST_F(RuntimeTest, GpuCountersBecomeFeaturesAndAreCleared) {
  static std::array<std::uint32_t, 4096> counters;
  static Map map;
  const struct {
    std::size_t at;
    std::uint32_t threads;
    std::uint8_t count;
  } rows[] = {{0, 1, 1}, {1, 32, 32}, {9, 255, 255}, {4095, 256, 255}, {77, 0xffff'ffff, 255}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.at);
    map.fill(0);
    vcuda::set_coverage_map(map);
    counters[row.at] = row.threads;
    vcuda::collect_gpu_counters(counters);
    EXPECT_EQ(features(map), 1);
    EXPECT_EQ(*std::ranges::max_element(map), row.count);
    EXPECT_EQ(counters[row.at], 0u);
    const Map before = map;
    vcuda::collect_gpu_counters(counters);
    EXPECT_EQ(map, before);
  }
  // Each place is a feature of its own.
  map.fill(0);
  for (const auto& row : rows) counters[row.at] = row.threads;
  vcuda::collect_gpu_counters(counters);
  EXPECT_EQ(features(map), std::ssize(rows));
  // Without a map they are cleared all the same: the next run does not find them.
  counters[5] = 1;
  vcuda::set_coverage_map({});
  vcuda::collect_gpu_counters(counters);
  EXPECT_EQ(counters[5], 0u);
}

TEST_F(RuntimeTest, NamedFeaturesSaturate) {
  static std::array<std::uint8_t, 256> map;
  map.fill(0);
  vcuda::set_coverage_map(map);
  for (int i = 0; i < 1000; ++i) vcuda::add_feature(42);
  EXPECT_EQ(std::accumulate(map.begin(), map.end(), 0), 255);
  vcuda::set_coverage_map({});
  vcuda::add_feature(42);
  EXPECT_EQ(std::accumulate(map.begin(), map.end(), 0), 255);
}

}  // namespace
