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

TEST(EmitIssue, FollowsTheTemplateAndIsHonestAboutTheDevice) {
  Finding f = classic();
  f.cpu_opinion = "raises IndexError: Target 1 is out of bounds.";
  f.evidence = {"Loss.cu:250: x: block: [0,0,0] Assertion `t >= 0` failed.", "```", "### Versions"};
  const std::string text = emit_issue(f);
  EXPECT_THAT(text,
              HasSubstr("# `torch.nn.functional.cross_entropy`: class label not compared with the number of classes"));
  EXPECT_THAT(text, HasSubstr("### \xF0\x9F\x90\x9B Describe the bug\n"));
  EXPECT_THAT(text, HasSubstr("torch.nn.functional.cross_entropy(logits, labels)\ntorch.cuda.synchronize()\n"));
  EXPECT_THAT(text, HasSubstr("Target 1 is out of bounds."));
  EXPECT_THAT(text, HasSubstr("Found by a fuzzer"));
  EXPECT_THAT(text, HasSubstr("Confirmed: 3 of 3 fresh processes on `vcuda`"));
  EXPECT_THAT(text, HasSubstr("this was not run on a GPU"));
  // The template's own heading comes last, behind the evidence that pretends to be it.
  EXPECT_THAT(text.substr(text.rfind("### Versions")), HasSubstr("PyTorch version: 2.11.0\n"));
  EXPECT_THAT(text, HasSubstr("````text\n"));
  f.outcome.device = "cuda:0";
  f.outcome.versions["gpu"] = "NVIDIA H200";
  const std::string gpu = emit_issue(f);
  EXPECT_THAT(gpu, Not(HasSubstr("not run on a GPU")));
  EXPECT_THAT(gpu, HasSubstr("GPU models and configuration: NVIDIA H200\nIs CUDA available: True\n"));
}

TEST(EmitClass, ListsEveryOperatorOnceAndTheSimplestCase) {
  const Finding f = classic();
  const Finding wide = with_case(
      "case: wide\nseed: 0\nshapes: {}\ntensors:\n  x: {shape: [9, 2], dtype: float32, fill: 0}\n"
      "  y: {shape: [9], dtype: int64, fill: 2}\nsteps:\n  - out = aten::multi_margin_loss(x, y)\n");
  ClassMember one{.signature = f.signature, .minimal = f.minimal, .device = "vcuda", .cause = "a | b"};
  ClassMember two = one;
  two.signature.kernel = "another_kernel|";
  two.minimal = wide.minimal;
  ClassMember three = two;
  three.signature.op = "aten::multi_margin_loss";
  three.device = "cuda:0";
  const MissingCheck& check = *find_missing_check("class_label");
  const std::string text = emit_class_report(check, {three, one, two});
  EXPECT_EQ(text, emit_class_report(check, {one, two, three}));
  EXPECT_THAT(text, HasSubstr("3 findings in 2 operators: `torch.nn.functional.cross_entropy`, "
                              "`torch.nn.functional.multi_margin_loss`."));
  EXPECT_THAT(text, HasSubstr("logits = torch.zeros((1, 1), device=device)"));
  EXPECT_THAT(text, HasSubstr(f.signature.folder_name() + "/finding.md"));
  EXPECT_THAT(text, HasSubstr("another_kernel\\|"));
  EXPECT_THAT(text, HasSubstr("on `cuda:0`, `vcuda`."));
}

TEST(EmitCuda, IsTheKernelAndItsLaunch) {
  Finding f = with_case(
      "case: own\nseed: 0\nshapes: {}\ntensors:\n"
      "  x: {shape: [3], dtype: float32, fill: [1, 2, .nan], layout: offset}\nsteps:\n"
      "  - y = dsafuzz::pair_sums_without_alignment_check(x)\n",
      Verdict::memory_fault);
  const std::string text = emit_cuda(f).value_or("");
  EXPECT_THAT(text, HasSubstr("__global__ void pair_sums_kernel(const std::int64_t* pairs, float* y, std::int64_t n)"));
  EXPECT_THAT(text, HasSubstr("values{1.0f, 2.0f, NAN}"));
  EXPECT_THAT(text, HasSubstr("made<float>(count + 1) + 1;"));
  EXPECT_THAT(text, HasSubstr("kernels::pair_sums_without_alignment_check(input, sums, count / 2, nullptr);"));
  EXPECT_THAT(text, Not(HasSubstr("#include \"")));
  EXPECT_THAT(text, Not(HasSubstr("COVERAGE_POINT"))) << "this project's own";
  EXPECT_EQ(emit_cuda(classic()), std::nullopt);
}

TEST(EmitJson, HoldsTheCasesAndSurvivesAnyText) {
  const auto json = nlohmann::json::parse(emit_json(classic()));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["signature"]["verdict"], "device_assert");
  EXPECT_EQ(json["on_gpu"], false);
  EXPECT_EQ(json["devices"].size(), 1u);
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
    EXPECT_FALSE(emit_issue(f).empty());
  }
}

TEST(EmitJson, SaysWhatEachDeviceShowed) {
  Finding finding = classic();
  finding.confirmed = finding.confirmations = 5;
  finding.elsewhere = {{"vcuda:1", 5, 5, ""}, {"cpu", 0, 5, "host_reject: *no*"}};
  const auto json = nlohmann::json::parse(emit_json(finding))["devices"];
  EXPECT_EQ(json.size(), 3u);
  EXPECT_EQ(json["vcuda:1"], (nlohmann::json{{"confirmed", 5}, {"of", 5}}));
  EXPECT_EQ(json["cpu"], (nlohmann::json{{"confirmed", 0}, {"of", 5}, {"instead", "host_reject: *no*"}}));
  const std::string report = emit_report(finding);
  EXPECT_NE(report.find("- On vcuda:1: 5 of 5.\n"), std::string::npos);
  EXPECT_NE(report.find("- On cpu: 0 of 5, else host\\_reject: \\*no\\*.\n"), std::string::npos) << report;
}

}  // namespace
}  // namespace dsafuzz
