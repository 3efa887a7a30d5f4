#include "repro/run_settings.h"

#include <gmock/gmock.h>

namespace dsafuzz {
namespace {

using testing::Contains;
using testing::Not;

TEST(Device, TextsAreInverses) {
  for (const char* text : {"cpu", "vcuda", "vcuda:1", "cuda:0", "cuda:15", "cuda:1:own"}) {
    const auto device = parse_device(text);
    ASSERT_TRUE(device) << text;
    EXPECT_EQ(device->text(), text);
  }
  EXPECT_EQ(parse_device("cuda")->text(), "cuda:0");
  for (const char* text : {"", "gpu", "cpu:0", "vcuda:", "vcuda:-1", "cuda:16", "cuda:1x", "CUDA", "cuda:own",
                           "vcuda:0:own", "cuda:0:own:own", "cuda:0:", "cuda::own"})
    EXPECT_FALSE(parse_device(text)) << text;
}

TEST(Tool, TextsAreInverses) {
  for (const char* text : {"none", "memcheck", "initcheck", "racecheck", "synccheck"}) {
    const auto tool = parse_tool(text);
    ASSERT_TRUE(tool) << text;
    EXPECT_EQ(to_text(*tool), text);
  }
  for (const char* text : {"", "Memcheck", "memcheck ", "race"}) EXPECT_FALSE(parse_tool(text)) << text;
}

TEST(Environment, HasTheToolThatWasChosen) {
  RunSettings settings;
  EXPECT_THAT(environment_of(settings, nullptr), Not(Contains(testing::StartsWith("DSAFUZZ_VCUDA_TOOL="))));
  settings.tool = Tool::racecheck;
  EXPECT_THAT(environment_of(settings, nullptr), Contains("DSAFUZZ_VCUDA_TOOL=racecheck"));
}

TEST(Environment, HasAVirtualDeviceBeyondTheChosenOne) {
  RunSettings settings;
  EXPECT_THAT(environment_of(settings, nullptr), Not(Contains(testing::StartsWith("DSAFUZZ_VCUDA_DEVICES="))));
  settings.device = {Device::Kind::vcuda, 1};
  EXPECT_THAT(environment_of(settings, nullptr), Contains("DSAFUZZ_VCUDA_DEVICES=3"));
  settings.device.index = 15;
  EXPECT_THAT(environment_of(settings, nullptr), Contains("DSAFUZZ_VCUDA_DEVICES=16"));
  settings.device = {Device::Kind::cuda, 1};
  EXPECT_THAT(environment_of(settings, nullptr), Not(Contains(testing::StartsWith("DSAFUZZ_VCUDA_DEVICES="))));
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

TEST(Environment, HasWhatADebuggingToolNeedsAndNothingElse) {
  const char* inherited[] = {"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
                             "PYTORCH_ALLOC_CONF=expandable_segments:True",
                             "CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1",
                             "PYTORCH_USE_CUDA_DSA=1",
                             "CUDA_VISIBLE_DEVICES=1",
                             nullptr};
  RunSettings settings;
  const auto plain = environment_of(settings, inherited);
  EXPECT_THAT(plain, Contains("PYTORCH_ALLOC_CONF=expandable_segments:False"));
  EXPECT_THAT(plain, Contains("PYTORCH_NO_CUDA_MEMORY_CACHING=1"));
  EXPECT_THAT(plain, Contains("CUDA_VISIBLE_DEVICES=1"));
  for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF=expandable_segments:True", "CUDA_ENABLE_CORE",
                           "CUDA_COREDUMP", "PYTORCH_USE_CUDA_DSA", "TORCH_USE_CUDA_DSA"}) {
    EXPECT_THAT(plain, Not(Contains(testing::StartsWith(name)))) << name;
  }
  settings.dsa = true;
  settings.core_dump = "/x/core.nvcudmp";
  const auto all = environment_of(settings, inherited);
  for (const char* variable : {"PYTORCH_USE_CUDA_DSA=1", "PYTORCH_CUDA_DSA_STACKTRACING=1", "TORCH_USE_CUDA_DSA=1",
                               "CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1", "CUDA_COREDUMP_SHOW_PROGRESS=1",
                               "CUDA_COREDUMP_FILE=/x/core.nvcudmp"}) {
    EXPECT_THAT(all, Contains(variable));
  }
}

}  // namespace
}  // namespace dsafuzz
