#include "repro/simpler.h"

#include <gtest/gtest.h>

#include "repro/case_text.h"
#include "tests/repro/example_case.h"

namespace dsafuzz {
namespace {

Case parse(const std::string& text) {
  auto c = parse_case(text, "test");
  EXPECT_TRUE(c) << c.error().text();
  return c ? *c : Case{};
}

// Each row's first case is simpler than its second by the first rule that tells them apart.
TEST(Simpler, FollowsTheDocumentedOrder) {
  const std::string head = "case: t\nseed: 0\n";
  const auto with = [&](const std::string& tensor, const std::string& step = "aten::relu(x)",
                        const std::string& extra = "") {
    return parse(head + extra + "tensors:\n  x: " + tensor + "\nsteps:\n  - " + step + "\n");
  };
  const std::string plain = "{shape: [2], dtype: int64, fill: 0}";
  struct Row {
    const char* rule;
    Case simple, complex;
  };
  const Row rows[] = {
      {"steps before elements", with("{shape: [99], dtype: int64, fill: 0}"),
       with(plain, "aten::relu(x)\n  - aten::relu(x)")},
      {"elements before values", with("{shape: [1], dtype: int64, fill: 9}"), with(plain)},
      {"ranks", with(plain), with("{shape: [2, 1], dtype: int64, fill: 0}")},
      {"non-zero values", with("{shape: [2], dtype: int64, fill: [0, 9]}"),
       with("{shape: [2], dtype: int64, fill: [1, 1]}")},
      {"arguments", with(plain), with(plain, "aten::relu(x, 1)")},
      {"layout", with(plain), with("{shape: [2], dtype: int64, fill: 0, layout: offset}")},
      {"precision", with(plain), with(plain, "aten::relu(x)", "precision: half\n")},
      {"phase", with(plain), with(plain, "aten::relu(x)", "phase: backward\n")},
      {"dtype", with("{shape: [2], dtype: float32, fill: 0}"), with("{shape: [2], dtype: float16, fill: 0}")},
      {"1 before -1", with("{shape: [2], dtype: int64, fill: [0, 1]}"),
       with("{shape: [2], dtype: int64, fill: [0, -1]}")},
      {"-1 before 2", with("{shape: [2], dtype: int64, fill: [0, -1]}"),
       with("{shape: [2], dtype: int64, fill: [0, 2]}")},
      {"finite before NaN", with("{shape: [2], dtype: float32, fill: [0, 1e9]}"),
       with("{shape: [2], dtype: float32, fill: [0, .nan]}")},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.rule);
    EXPECT_TRUE(simpler(row.simple, row.complex));
    EXPECT_FALSE(simpler(row.complex, row.simple));
  }
}

TEST(Simpler, IsEqualOnlyForEqualCases) {
  const Case c = example_case();
  EXPECT_EQ(compare_simplicity(c, c), std::strong_ordering::equal);
  Case renamed = c;
  renamed.scenario = "example2";
  EXPECT_NE(compare_simplicity(c, renamed), std::strong_ordering::equal);
}

}  // namespace
}  // namespace dsafuzz
