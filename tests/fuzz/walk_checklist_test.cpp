// The prevention list walked on a device whose bugs are known: each item fails for its own reason, and a healthy case
// passes all.
#include "fuzz/walk_checklist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_executor.h"

namespace dsafuzz {
namespace {

using State = ChecklistItem::State;
using testing::ElementsAre;
using testing::HasSubstr;

const ChecklistItem& item(const Checklist& list, std::string_view name) {
  return *std::ranges::find(list.items, name, &ChecklistItem::name);
}

// A device on which memory is left behind by each run.
class LeakingExecutor : public FakeExecutor {
 public:
  using FakeExecutor::FakeExecutor;
  Result<Outcome> run(const Case& c, std::span<std::uint8_t> features = {}) override {
    auto outcome = FakeExecutor::run(c, features);
    outcome->peak_device_bytes = 1000 + (left_ += per_run);
    return outcome;
  }
  std::int64_t per_run = 0;

 private:
  std::int64_t left_ = 0;
};

Checklist walk(const Scenario& scenario, FakeBugs bugs, std::int64_t leak,
               std::vector<RunSettings>* started = nullptr) {
  const Replayer::StartWorkers start = [=](const RunSettings& settings) -> Result<std::unique_ptr<Executor>> {
    if (started) started->push_back(settings);
    auto executor = std::make_unique<LeakingExecutor>(bugs, settings.device);
    executor->per_run = leak;
    return executor;
  };
  RunSettings settings;
  const auto list = walk_checklist(scenario.base, &scenario, settings, start);
  EXPECT_TRUE(list);
  return list.value_or(Checklist{});
}

TEST(WalkChecklist, healthy_case_passes) {
  std::vector<RunSettings> started;
  const Checklist list = walk(healthy_scenario(), {}, 0, &started);
  std::vector<std::string> names;
  for (const ChecklistItem& one : list.items) {
    names.push_back(one.name);
    EXPECT_EQ(one.failed, std::vector<std::string>{}) << one.name;
  }
  EXPECT_THAT(names, ElementsAre("data ranges", "loss input dimensions", "mixed-precision casts", "memory growth",
                                 "sanitizer run", "the CPU's opinion", "guards recommended"));
  EXPECT_FALSE(list.has_failed());
  EXPECT_EQ(item(list, "mixed-precision casts").checked.size(), kPrecisions.size());
  std::vector<Tool> tools;
  for (const RunSettings& settings : started) {
    if (settings.tool && settings.device.kind == Device::Kind::vcuda) tools.push_back(*settings.tool);
  }
  EXPECT_THAT(tools, ElementsAre(Tool::memcheck, Tool::initcheck, Tool::racecheck, Tool::synccheck));
}

TEST(WalkChecklist, bad_label_is_named) {
  Scenario scenario = classic_scenario();
  scenario.base.find_tensor("labels")->set[1] = std::int64_t{99};
  const Checklist list = walk(scenario, {}, 0);
  EXPECT_TRUE(list.has_failed());
  EXPECT_THAT(item(list, "data ranges").failed, ElementsAre(HasSubstr("labels[1] is 99, ")));
  EXPECT_EQ(item(list, "memory growth").state(), State::unchecked);  // it does not run to its end
  EXPECT_EQ(item(list, "sanitizer run").failed.size(), 4U);
}

TEST(WalkChecklist, memory_that_grows_fails) {
  const Checklist list = walk(healthy_scenario(), {}, 8);
  EXPECT_THAT(item(list, "memory growth").failed,
              ElementsAre(HasSubstr("1008 bytes at first, 1160 at last: it grows")));
  EXPECT_EQ(item(list, "sanitizer run").state(), State::passed);
}

TEST(WalkChecklist, no_worker_is_a_problem) {
  const Scenario scenario = healthy_scenario();
  const auto list = walk_checklist(scenario.base, &scenario, {}, [](const RunSettings&) {
    return Result<std::unique_ptr<Executor>>(environment_problem("no worker"));
  });
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().exit_code(), 3);
}

}  // namespace
}  // namespace dsafuzz
