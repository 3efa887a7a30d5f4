#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "repro/emit.h"
#include "tests/repro/emit_example.h"

namespace dsafuzz {
namespace {

using ::testing::HasSubstr;

TEST(EmitCpp, TextHasTheOperatorAndTheValues) {
  const std::string text = emit_cpp(classic());
  EXPECT_THAT(text, HasSubstr("// labels[0] = 1 is not in [0, 1)."));
  EXPECT_THAT(text, HasSubstr("at::Tensor loss = at::cross_entropy_loss(logits, labels);"));
  EXPECT_THAT(text, HasSubstr("device-side assert triggered"));
  EXPECT_EQ(text, emit_cpp(classic()));
}

TEST(EmitCpp, ANumberIsNotTakenForAnotherOverloadsArgument) {
  const Finding f = with_case(
      "case: c\nseed: 0\nshapes: {}\ntensors:\n  repeats: {shape: [2], dtype: int64, fill: 1}\nsteps:\n"
      "  - out = aten::repeat_interleave.Tensor(repeats, output_size=5)\n");
  EXPECT_THAT(emit_cpp(f), HasSubstr("at::repeat_interleave(repeats, std::make_optional(std::int64_t(5)));"));
}

TEST(EmitCpp, BuildsAndRunsOnTheCpu) {
  if (!std::getenv("DSAFUZZ_SLOW_TESTS")) GTEST_SKIP() << "set DSAFUZZ_SLOW_TESTS=1: compiling takes a minute";
  struct Row {
    std::string name;
    Finding finding;
    int code;
    std::string output;
  };
  const Row rows[] = {
      {"classic", classic(), 0, "cpu: Target 1 is out of bounds.\nthe bug does not show\n"},
      {"tensors", with_case(kTensors, Verdict::ok), 1, "cpu: returned\nthe bug shows\n"},
      {"crash", with_case(kTensors, Verdict::crash), 0, "the bug does not show"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    write(row.name + "/repro.cpp", emit_cpp(row.finding));
    write(row.name + "/CMakeLists.txt", emit_cmake(row.finding));
    const std::string at = folder() + "/" + row.name;
    const Ran built = run("cmake -S " + at + " -B " + at + "/b -G Ninja -DCMAKE_CXX_COMPILER=" + DSAFUZZ_CXX +
                          " -DTORCH_DIR=" + DSAFUZZ_TORCH + " && cmake --build " + at + "/b");
    ASSERT_EQ(built.code, 0) << built.output;
    const Ran ran = run(at + "/b/repro cpu");
    EXPECT_EQ(ran.code, row.code) << ran.output;
    EXPECT_THAT(ran.output, HasSubstr(row.output));
    EXPECT_EQ(run("env -u DSAFUZZ_VCUDA_LIBRARY " + at + "/b/repro vcuda").code, 125);
  }
}

}  // namespace
}  // namespace dsafuzz
