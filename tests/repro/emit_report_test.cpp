#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "repro/case_text.h"
#include "repro/emit.h"
#include "repro/emit_class.h"
#include "tests/repro/emit_example.h"

namespace dsafuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(EmitReport, SaysWhereItWasFoundAndNeverClaimsAGpu) {
  Finding f = classic();
  f.evidence = {"Loss.cu:250: x: block: [0,0,0] Assertion `t >= 0` failed.", "```", "## not a heading"};
  f.cpu_opinion = "raises IndexError: Target 1 is out of bounds.";
  f.earliest_frame = Frame{"main", "train.py", 12};
  f.advice.guard = "assert labels.max() < classes";
  const std::string text = emit_report(f);
  EXPECT_THAT(text, HasSubstr("Found on vcuda, the virtual CUDA device; not run on a GPU."));
  EXPECT_THAT(text, HasSubstr("3 of 3 fresh processes"));
  EXPECT_THAT(text, HasSubstr("1-minimal"));
  EXPECT_THAT(text, HasSubstr("````text\n"));  // longer than the fence inside
  EXPECT_THAT(text, HasSubstr("train.py:12"));
  EXPECT_THAT(text, HasSubstr("torch: 2.11.0"));
  f.outcome.device = "cuda:0";
  f.outcome.versions["gpu"] = "NVIDIA H200";
  f.one_minimal = false;
  const std::string gpu = emit_report(f);
  EXPECT_THAT(gpu, Not(HasSubstr("not run on a GPU")));
  EXPECT_THAT(gpu, HasSubstr("NVIDIA H200"));
  EXPECT_THAT(gpu, HasSubstr("Not minimal"));
}

TEST(EmitJson, HoldsTheCasesAndSurvivesAnyText) {
  const auto json = nlohmann::json::parse(emit_json(classic()));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["signature"]["verdict"], "device_assert");
  EXPECT_EQ(json["on_gpu"], false);
  const auto back = parse_case(json["minimal"].get<std::string>(), "json");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, classic().minimal);
  for (const std::string& text : kHostile) {
    Finding f = classic();
    f.outcome.log = f.outcome.error = f.signature.condition = text;
    f.evidence = {text};
    f.earliest_frame = Frame{text, text, 1};
    f.outcome.versions[text] = text;
    EXPECT_FALSE(nlohmann::json::parse(emit_json(f), nullptr, false).is_discarded());
    EXPECT_FALSE(emit_report(f).empty());
  }
}

}  // namespace
}  // namespace dsafuzz
