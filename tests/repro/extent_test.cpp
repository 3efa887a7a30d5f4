#include "repro/extent.h"

#include <gtest/gtest.h>

namespace dsafuzz {
namespace {

const Shapes kShapes{{"a", 3}, {"b_1", 5}};

TEST(Extent, EvaluatesItsGrammar) {
  struct Row {
    const char* text;
    const char* canonical;
    std::int64_t value;
  };
  static constexpr Row kRows[] = {
      {"0", "0", 0},
      {"a", "a", 3},
      {" a*b_1+1", "a * b_1 + 1", 16},
      {"2 * a - b_1", "2 * a - b_1", 1},
      {"-a", "-a", -3},
      {"a - 2*b_1*a + 7", "a - 2 * b_1 * a + 7", -20},
      {"9223372036854775807", "9223372036854775807", INT64_MAX},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.text);
    const auto extent = parse_extent(row.text);
    ASSERT_TRUE(extent) << extent.error().text();
    EXPECT_EQ(extent->text, row.canonical);
    EXPECT_EQ(parse_extent(extent->text), extent);
    EXPECT_EQ(evaluate(*extent, kShapes), row.value);
  }
  EXPECT_EQ(names_in({"a * b_1 + a"}), (std::vector<std::string>{"a", "b_1"}));
}

TEST(Extent, RefusesWhatIsNotASize) {
  for (const char* text : {"", " ", "a +", "* a", "a b", "1.5", "a / 2", "(a)", "99999999999999999999", "a\n"}) {
    EXPECT_FALSE(parse_extent(text)) << text;
  }
  EXPECT_FALSE(parse_extent(std::string(201, 'a')));
  EXPECT_FALSE(evaluate({"c"}, kShapes));
  EXPECT_FALSE(evaluate({"9223372036854775807 * a"}, kShapes));
  EXPECT_FALSE(evaluate({"9223372036854775807 + a"}, kShapes));
}

}  // namespace
}  // namespace dsafuzz
