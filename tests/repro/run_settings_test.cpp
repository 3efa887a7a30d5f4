#include "repro/run_settings.h"

#include <gmock/gmock.h>

namespace dsafuzz {
namespace {

using testing::Contains;
using testing::Not;

TEST(Device, TextsAreInverses) {
  for (const char* text : {"cpu", "vcuda", "vcuda:1", "cuda:0", "cuda:15"}) {
    const auto device = parse_device(text);
    ASSERT_TRUE(device) << text;
    EXPECT_EQ(device->text(), text);
  }
  EXPECT_EQ(parse_device("cuda")->text(), "cuda:0");
  for (const char* text : {"", "gpu", "cpu:0", "vcuda:", "vcuda:-1", "cuda:16", "cuda:1x", "CUDA"})
    EXPECT_FALSE(parse_device(text)) << text;
}

TEST(Environment, IsDecidedBySettingsAlone) {
  const char* inherited[] = {"PATH=/bin", "CUDA_LAUNCH_BLOCKING=1", "DSAFUZZ_VCUDA_CACHING=1", "LD_PRELOAD=x", nullptr};
  RunSettings settings;
  EXPECT_THAT(environment_of(settings, inherited), Contains("PATH=/bin"));
  EXPECT_THAT(environment_of(settings, inherited), Not(Contains("CUDA_LAUNCH_BLOCKING=1")));
  EXPECT_THAT(environment_of(settings, inherited), Not(Contains("DSAFUZZ_VCUDA_CACHING=1")));
  EXPECT_THAT(environment_of(settings, inherited), Not(Contains("LD_PRELOAD=x")));
  settings.blocking = settings.cpp_stacks = true;
  EXPECT_THAT(environment_of(settings, inherited), Contains("CUDA_LAUNCH_BLOCKING=1"));
  EXPECT_THAT(environment_of(settings, inherited), Contains("TORCH_SHOW_CPP_STACKTRACES=1"));
}

}  // namespace
}  // namespace dsafuzz
