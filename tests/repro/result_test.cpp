#include "repro/result.h"

#include <gtest/gtest.h>

namespace dsafuzz {
namespace {

TEST(Problem, IsOneLineWithPlaceAndRemedy) {
  const Problem p{Problem::Kind::input, "two\nlines \x1b[31m", "a.yaml:1:2", "do this"};
  EXPECT_EQ(p.text(), "a.yaml:1:2: two\\nlines \\x1b[31m (do this)");
  EXPECT_EQ(p.exit_code(), 2);
  EXPECT_EQ(environment_problem("x").error().exit_code(), 3);
  EXPECT_LT(environment_problem(std::string(10'000, 'x')).error().text().size(), 500u);
}

}  // namespace
}  // namespace dsafuzz
