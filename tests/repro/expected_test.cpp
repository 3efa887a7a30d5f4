// What may stand in expect.yaml, and what is met by what is seen.
#include "repro/expected.h"

#include <gtest/gtest.h>

namespace dsafuzz {
namespace {

TEST(Expected, ReadsEachKey) {
  const auto full = parse_expected(
      "verdict: device_assert\nsignature: \"Loss.cu k `t < n`\"\ntool: racecheck\ndevice: cpu\n", "expect.yaml");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->verdict, Verdict::device_assert);
  EXPECT_EQ(full->signature, "Loss.cu k `t < n`");
  EXPECT_EQ(full->tool, Tool::racecheck);
  EXPECT_EQ(full->device, (Device{Device::Kind::cpu, 0}));
  EXPECT_TRUE(full->skip.empty());
  const auto skipped = parse_expected("skip: needs 17 GB\n", "expect.yaml");
  ASSERT_TRUE(skipped) << "what is not run needs no verdict";
  EXPECT_EQ(skipped->skip, "needs 17 GB");
}

TEST(Expected, BadOnesAreNamedWithTheirPlace) {
  struct Row {
    const char* text;
    const char* says;
  };
  for (const Row& row :
       {Row{"tool: racecheck\n", "there is no verdict"}, Row{"verdict: fine\n", "'fine' is not a verdict"},
        Row{"verdict: ok\ndevice: gpu\n", "gpu"}, Row{"verdict: ok\nskip: ''\n", "skip needs a reason"},
        Row{"verdict: ok\ntool: valgrind\n", "'valgrind' is not a tool"}, Row{"verdict: ok\nline: 3\n", "'line'"}}) {
    SCOPED_TRACE(row.text);
    const auto expected = parse_expected(row.text, "expect.yaml");
    ASSERT_FALSE(expected);
    EXPECT_NE(expected.error().text().find(row.says), std::string::npos) << expected.error().text();
    EXPECT_EQ(expected.error().where.substr(0, 12), "expect.yaml:");
  }
}

TEST(Expected, WithoutASignatureAnyIsRight) {
  Expected expected;
  expected.verdict = Verdict::device_assert;
  const Signature seen{Verdict::device_assert, "aten::gather", "aten/x/Loss.cu", "k", "t < n"};
  EXPECT_FALSE(expected.unmet(seen));
  expected.signature = "Loss.cu k `t < n`";
  EXPECT_FALSE(expected.unmet(seen));
  expected.signature = "Loss.cu k `t <= n`";
  EXPECT_EQ(expected.unmet(seen), "device_assert Loss.cu k `t <= n`");
  EXPECT_TRUE(expected.unmet({Verdict::ok, "", "", "", ""}));
}

}  // namespace
}  // namespace dsafuzz
