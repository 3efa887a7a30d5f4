#include "repro/scenario.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "repro/case_text.h"

namespace dsafuzz {
namespace {

const std::filesystem::path kScenarios = std::filesystem::path(DSAFUZZ_SOURCE_DIR) / "scenarios";

TEST(Scenario, TheClassicExpandsToATenSteps) {
  const auto s = load_scenario((kScenarios / "linear_cross_entropy.yaml").string());
  ASSERT_TRUE(s) << s.error().text();
  ASSERT_EQ(s->base.steps.size(), 2u);
  EXPECT_EQ(to_text(s->base.steps[0]), "logits = aten::linear(input, model.0.weight, model.0.bias)");
  EXPECT_EQ(to_text(s->base.steps[1]),
            "loss = aten::cross_entropy_loss(logits, labels, reduction=mean, ignore_index=-100)");
  EXPECT_EQ(s->base.shapes, (Shapes{{"batch", 32}, {"classes", 5}, {"features", 10}}));
  EXPECT_EQ(s->base.find_tensor("model.0.weight")->shape, (std::vector<Extent>{{"classes"}, {"features"}}));
  EXPECT_TRUE(s->base.find_tensor("model.0.bias")->parameter);
  EXPECT_EQ(s->legal.at("labels").also, std::vector<std::int64_t>{-100});
  EXPECT_EQ(s->precisions.size(), 3u);
  EXPECT_EQ(s->vary.attributes, (std::vector<std::pair<std::string, std::string>>{{"loss", "reduction"}}));
  EXPECT_FALSE(s->vary.shapes.empty());
  EXPECT_FALSE(s->only_legal);
  EXPECT_EQ(s->expect.minimal_shapes, (Shapes{{"batch", 1}, {"classes", 1}}));
}

// Style point 14: every scenario says in its first line what it is, and has a healthy twin.
TEST(Scenario, EveryShippedOneLoadsAndHasATwin) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kScenarios)) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path().string());
    ++count;
    const auto s = load_scenario(entry.path().string());
    ASSERT_TRUE(s) << s.error().text();
    const std::string stem = entry.path().stem().string();
    EXPECT_EQ(s->name, stem);
    const bool healthy = stem.ends_with("_healthy");
    EXPECT_EQ(s->only_legal, healthy);
    EXPECT_EQ(s->expect.verdict == Verdict::ok, healthy);
    const std::string twin = healthy ? stem.substr(0, stem.size() - 8) : stem + "_healthy";
    EXPECT_TRUE(std::filesystem::exists(kScenarios / (twin + ".yaml")));
  }
  EXPECT_GE(count, 18);
}

}  // namespace
}  // namespace dsafuzz
