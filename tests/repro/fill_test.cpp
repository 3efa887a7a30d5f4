#include "repro/fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dsafuzz {
namespace {

struct OneTensor {
  Case c;
  TensorSpec t;
};

OneTensor one(Dtype dtype, std::int64_t count, Fill fill) {
  OneTensor out;
  out.c.scenario = "fill";
  out.c.seed = 1;
  out.t.name = "x";
  out.t.shape = {Extent::of(count)};
  out.t.dtype = dtype;
  out.t.fill = std::move(fill);
  return out;
}

std::vector<std::int64_t> integers(const OneTensor& o) {
  std::vector<std::int64_t> out;
  for (const Number& n : contents(o.c, o.t)) out.push_back(std::get<std::int64_t>(n));
  return out;
}

TEST(Fill, IntegersAsWritten) {
  Fill f;
  f.constant = std::int64_t{7};
  EXPECT_EQ(integers(one(Dtype::int64, 3, f)), (std::vector<std::int64_t>{7, 7, 7}));
  f.kind = Fill::Kind::arange;
  EXPECT_EQ(integers(one(Dtype::int32, 3, f)), (std::vector<std::int64_t>{0, 1, 2}));
  f.kind = Fill::Kind::literal;
  f.literal = {std::int64_t{4}, std::int64_t{5}};
  EXPECT_EQ(integers(one(Dtype::int64, 5, f)), (std::vector<std::int64_t>{4, 5, 4, 5, 4}));
  EXPECT_EQ(integers(one(Dtype::int64, 0, f)), (std::vector<std::int64_t>{}));
}

TEST(Fill, IntegersWrapAsACastDoes) {
  Fill f;
  f.kind = Fill::Kind::literal;
  f.literal = {std::int64_t{256}, std::int64_t{-1}, std::int64_t{1} << 32, std::int64_t{128}};
  EXPECT_EQ(integers(one(Dtype::uint8, 4, f)), (std::vector<std::int64_t>{0, 255, 0, 128}));
  EXPECT_EQ(integers(one(Dtype::int8, 4, f)), (std::vector<std::int64_t>{0, -1, 0, -128}));
  EXPECT_EQ(integers(one(Dtype::int32, 4, f)), (std::vector<std::int64_t>{256, -1, 0, 128}));
  EXPECT_EQ(integers(one(Dtype::boolean, 4, f)), (std::vector<std::int64_t>{1, 1, 1, 1}));
}

TEST(Fill, RandintStaysInsideAndReachesBothEnds) {
  Fill f;
  f.kind = Fill::Kind::randint;
  f.from = {"-2"};
  f.to = {"3"};
  const auto values = integers(one(Dtype::int64, 1000, f));
  EXPECT_EQ(std::ranges::min(values), -2);
  EXPECT_EQ(std::ranges::max(values), 2);
  f.to = f.from;  // an empty interval gives its lower end
  EXPECT_EQ(integers(one(Dtype::int64, 2, f)), (std::vector<std::int64_t>{-2, -2}));
}

TEST(Fill, RandomElementsDependOnSeedNameAndIndexOnly) {
  Fill f;
  f.kind = Fill::Kind::randn;
  OneTensor a = one(Dtype::float32, 100, f), b = one(Dtype::float32, 10, f);
  const auto long_one = contents(a.c, a.t), short_one = contents(b.c, b.t);
  EXPECT_TRUE(std::equal(short_one.begin(), short_one.end(), long_one.begin()));
  b.t.name = "y";
  EXPECT_NE(contents(b.c, b.t), short_one);
  b.t.name = "x";
  b.c.seed = 2;
  EXPECT_NE(contents(b.c, b.t), short_one);
}

TEST(Fill, NormalNumbersHaveMeanZeroAndVarianceOne) {
  Fill f;
  f.kind = Fill::Kind::randn;
  const OneTensor o = one(Dtype::float64, 100'000, f);
  std::vector<double> values(100'000);
  fill_floats(o.c, o.t, values);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 1e5;
  double variance = 0;
  for (const double v : values) variance += (v - mean) * (v - mean) / 1e5;
  // Five standard errors of the mean and of the variance of 100,000 draws.
  EXPECT_NEAR(mean, 0, 5 / std::sqrt(1e5));
  EXPECT_NEAR(variance, 1, 5 * std::sqrt(2 / 1e5));
}

TEST(Fill, SetElementsReplaceAndPastTheEndAreIgnored) {
  OneTensor o = one(Dtype::float32, 3, {});
  o.t.set = {{1, __builtin_nan("")}, {2, std::int64_t{4}}, {99, 1.0}};
  const auto values = contents(o.c, o.t);
  EXPECT_TRUE(std::isnan(std::get<double>(values[1])));
  EXPECT_EQ(values[2], Number{4.0});
  const TensorSpec literal = with_literal_contents(o.c, o.t);
  EXPECT_TRUE(literal.set.empty());
  EXPECT_TRUE(std::ranges::equal(contents(o.c, literal), values, number_equal));
}

}  // namespace
}  // namespace dsafuzz
