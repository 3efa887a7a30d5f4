// Random draws follow their distributions and their seeds, and ctc_loss, grouped products and conversions of indices
// give the CPU's values for legal inputs.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <functional>

#include "tests/kernels/aten_parity.h"

namespace {

using Options = at::TensorOptions;

Tensor floats(std::vector<double> values, at::ScalarType type = at::kFloat) {
  return at::tensor(values, Options(at::kDouble)).to(type).to(vcuda_device());
}

using AtenSamplingValuesTest = AtenParityTest;

constexpr std::int64_t kDraws = 20000;
constexpr double kErrors = 5;  // standard errors

// The same draws for the same seed, others for another.
TEST_F(AtenSamplingValuesTest, SeedsDecideTheDraws) {
  const std::vector<std::function<Tensor(at::Generator)>> draws = {
      [](at::Generator g) { return at::bernoulli(at::full({100}, 0.5, Options(vcuda_device())), g); },
      [](at::Generator g) { return at::poisson(at::full({100}, 50.0, Options(vcuda_device())), g); },
      [](at::Generator g) { return at::multinomial(at::ones({50}, Options(vcuda_device())), 100, true, g); },
      [](at::Generator g) { return at::multinomial(at::ones({50}, Options(vcuda_device())), 20, false, g); },
  };
  for (const auto& draw : draws) {
    const auto with_seed = [&](std::uint64_t seed) { return draw(at::detail::createCPUGenerator(seed)).cpu(); };
    EXPECT_TRUE(at::equal(with_seed(7), with_seed(7)));
    EXPECT_FALSE(at::equal(with_seed(7), with_seed(8)));
    at::Generator same = at::detail::createCPUGenerator(7);
    EXPECT_FALSE(at::equal(draw(same).cpu(), draw(same).cpu()));
  }
}

TEST_F(AtenSamplingValuesTest, BernoulliFollowsItsProbability) {
  at::manual_seed(1);
  for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    for (const double p : {0.0, 0.125, 0.5, 1.0}) {
      SCOPED_TRACE(p);
      const double mean = at::bernoulli(at::full({kDraws}, p, Options(type)).to(vcuda_device()))
                              .cpu()
                              .to(at::kDouble)
                              .mean()
                              .item<double>();
      EXPECT_NEAR(mean, p, kErrors * std::sqrt(p * (1 - p) / kDraws));
    }
  }
  // Any type holds zeros and ones; p is broadcast, and the result may be a view with gaps.
  const Tensor whole = at::full({4, 6}, 9, Options(at::kInt)).to(vcuda_device());
  whole.slice(1, 0, 6, 2).t().bernoulli_(floats({0, 1, 0, 1}));
  const Tensor expected = at::full({4, 6}, 9, Options(at::kInt));
  expected.slice(1, 0, 6, 2).t().copy_(longs({0, 1, 0, 1}));
  EXPECT_TRUE(at::equal(whole.cpu(), expected));
  EXPECT_EQ(at::bernoulli(floats({})).numel(), 0);
}

TEST_F(AtenSamplingValuesTest, PoissonFollowsItsRate) {
  at::manual_seed(2);
  for (const double rate : {0.0, 0.25, 9.0, 10.0, 500.0, 1e5, 1e8}) {
    SCOPED_TRACE(rate);
    const Tensor drawn = at::poisson(at::full({kDraws}, rate, Options(at::kDouble)).to(vcuda_device())).cpu();
    const double n = kDraws;
    EXPECT_NEAR(drawn.mean().item<double>(), rate, kErrors * std::sqrt(rate / n));
    // The fourth central moment is rate + 3 * rate^2.
    EXPECT_NEAR(drawn.var().item<double>(), rate, kErrors * std::sqrt((rate + 2 * rate * rate) / n));
    EXPECT_TRUE(at::equal(drawn, drawn.floor()));
  }
  const Tensor transposed = at::tensor({0.0, 1e6, 0.0, 1e6}).reshape({2, 2}).to(at::kFloat).to(vcuda_device()).t();
  const Tensor drawn = at::poisson(transposed).cpu();
  EXPECT_TRUE(at::equal(drawn.gt(0), at::tensor({0, 0, 1, 1}).reshape({2, 2}).to(at::kBool)));
  EXPECT_EQ(at::poisson(floats({}, at::kBFloat16)).numel(), 0);
}

TEST_F(AtenSamplingValuesTest, MultinomialFollowsItsWeights) {
  at::manual_seed(3);
  const std::vector<double> weights = {0, 1, 2, 0, 5, 0};
  const auto expect_counts = [&](const Tensor& drawn) {
    const Tensor counts = at::bincount(drawn.cpu().flatten(), {}, 6);
    const double n = static_cast<double>(drawn.numel());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      SCOPED_TRACE(i);
      const double p = weights[i] / 8;
      const double count = static_cast<double>(counts[static_cast<std::int64_t>(i)].item<std::int64_t>());
      EXPECT_NEAR(count, n * p, kErrors * std::sqrt(n * p * (1 - p)));
    }
  };
  for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    SCOPED_TRACE(type);
    expect_counts(at::multinomial(floats(weights, type), kDraws, true));
  }
  expect_counts(at::multinomial(floats(weights).expand({kDraws, 6}), 1));
  const Tensor rows = at::multinomial(floats(weights).expand({300, 6}), 200, true);
  EXPECT_EQ(rows.sizes(), at::IntArrayRef({300, 200}));
  expect_counts(rows);
  // Without replacement nothing comes twice.
  const Tensor all = at::multinomial(at::ones({100}, Options(vcuda_device())), 100).cpu();
  EXPECT_TRUE(at::equal(std::get<0>(all.sort()), at::arange(100)));
  // An output with gaps, and an empty one.
  Tensor out = at::zeros({3, 2}, Options(at::kLong)).to(vcuda_device()).t();
  at::multinomial_out(out, floats({0, 1}).expand({2, 2}), 3, true);
  EXPECT_TRUE(at::equal(out.cpu(), at::ones({2, 3}, Options(at::kLong))));
  EXPECT_EQ(at::multinomial(at::ones({0, 3}, Options(vcuda_device())), 2, true).numel(), 0);
}

// Loss and gradient, with the path that LibTorch takes on a device.
Tensors ctc(Device on, const Tensor& scores, const Tensor& labels, std::vector<std::int64_t> steps,
            std::vector<std::int64_t> lengths, bool zero_infinity = false) {
  const Tensor log_probs = at::log_softmax(scores, 2).to(on);
  const Tensor targets = labels.to(on);
  const auto [losses, alpha] = at::_ctc_loss(log_probs, targets, steps, lengths, 0, zero_infinity);
  const Tensor grad = at::arange(1, losses.numel() + 1, Options(scores.scalar_type())).to(on);
  return {losses, at::_ctc_loss_backward(grad, log_probs, targets, steps, lengths, losses, alpha, 0, zero_infinity),
          at::ctc_loss(log_probs, targets, at::IntArrayRef(steps), lengths, 0, at::Reduction::Mean, zero_infinity)};
}

TEST_F(AtenSamplingValuesTest, CtcLossParity) {
  const Tensor scores = ramp({7, 3, 5}), wide = ramp({7, 3, 10});
  const Tensor labels = longs({1, 2, 2, 3, 3, 3, 4, 1, 2}).reshape({3, 3});
  const std::vector<Parity> rows = {
      {"full",
       [=](Device on) {
         return ctc(on, scores, labels, {7, 7, 7}, {3, 3, 2});
       },
       1e-5},
      {"double",
       [=](Device on) {
         return ctc(on, scores.to(at::kDouble), labels, {7, 6, 5}, {3, 2, 1});
       },
       1e-9},
      {"empty labels",
       [=](Device on) {
         return ctc(on, scores, labels, {7, 1, 3}, {0, 0, 3});
       },
       1e-5},
      {"all empty",
       [=](Device on) {
         return ctc(on, scores, labels.slice(1, 0, 0), {7, 1, 3}, {0, 0, 0});
       },
       1e-5},
      {"joined labels",
       [=](Device on) {
         return ctc(on, scores, longs({1, 2, 4, 4}), {7, 7, 7}, {1, 0, 3});
       },
       1e-5},
      {"strided labels",
       [=](Device on) {
         return ctc(on, scores, labels.t().contiguous().t(), {7, 7, 7}, {3, 3, 3});
       },
       1e-5},
      {"too short, zeroed",
       [=](Device on) {
         return ctc(on, scores, labels, {2, 7, 7}, {3, 3, 2}, true);
       },
       1e-5},
      {"strided scores",
       [=](Device on) {
         return ctc(on, wide.slice(2, 0, 10, 2), labels, {7, 5, 6}, {1, 2, 3});
       },
       1e-5},
      {"long labels",
       [=](Device on) {
         return ctc(on, ramp({60, 1, 4}), (at::arange(25) % 3 + 1).reshape({1, 25}), {60}, {25});
       },
       1e-4},
      {"lengths as tensors",
       [=](Device on) {
         const Tensor steps = longs({7, 6, 5}), lengths = longs({3, 2, 1});
         return Tensors{at::ctc_loss(at::log_softmax(scores, 2).to(on), labels.to(on), steps.to(on), lengths.to(on))};
       },
       1e-5},
  };
  compare(rows);
}

TEST_F(AtenSamplingValuesTest, IndexConversionParity) {
  const auto starts = [](std::vector<std::int64_t> rows, int64_t size, at::ScalarType type, bool narrow) {
    return [=](Device on) {
      return Tensors{at::_convert_indices_from_coo_to_csr(longs(rows, type).to(on), size, narrow)};
    };
  };
  const auto rows = [](const Tensor& crow, const Tensor& col, bool narrow, bool transpose) {
    return [=](Device on) {
      return Tensors{at::_convert_indices_from_csr_to_coo(crow.to(on), col.to(on), narrow, transpose)};
    };
  };
  const Tensor crow = longs({0, 2, 2, 3}), col = longs({1, 4, 0});
  compare({
      {"no element", starts({}, 4, at::kLong, false)},
      {"no row", starts({}, 0, at::kLong, false)},
      {"one", starts({3}, 4, at::kLong, false)},
      {"some", starts({0, 0, 2, 5}, 7, at::kLong, false)},
      {"narrow", starts({0, 0, 2, 5}, 7, at::kInt, true)},
      {"to narrow", starts({1, 1}, 2, at::kLong, true)},
      {"back", rows(crow, col, false, false)},
      {"back, transposed", rows(crow, col, false, true)},
      {"back, narrow", rows(crow.to(at::kInt), col.to(at::kInt), true, false)},
      {"back, no element", rows(longs({0, 0}), longs({}), false, false)},
      {"back, batches", rows(crow.expand({2, 2, 4}), col.expand({2, 2, 3}), false, false)},
      {"many",
       [](Device on) {
         const Tensor sorted = std::get<0>(((at::arange(5000) * 7919) % 3000).sort());
         return Tensors{at::_convert_indices_from_coo_to_csr(sorted.to(on), 3001)};
       }},
  });
}

TEST_F(AtenSamplingValuesTest, GroupedProductParity) {
  const auto product = [](const Tensor& a, const Tensor& b, std::optional<std::vector<std::int64_t>> ends,
                          at::ScalarType type = at::kBFloat16) {
    return [=](Device on) {
      std::optional<Tensor> offs;
      if (ends.has_value()) offs = longs(*ends, at::kInt).to(on);
      return Tensors{at::_grouped_mm(a.to(type).to(on), b.to(type).to(on), offs)};
    };
  };
  const Tensor cube = ramp({2, 16, 16}), rows = ramp({32, 16}), flat = ramp({16, 32});
  compare({
      {"rows", product(rows, cube, std::vector<std::int64_t>{13, 32}), 1e-2},
      {"empty group", product(rows, cube, std::vector<std::int64_t>{0, 32}), 1e-2},
      {"columns", product(cube, flat, std::vector<std::int64_t>{8, 32}), 1e-2},
      {"depth", product(flat, rows, std::vector<std::int64_t>{16, 32}), 1e-2},
      {"batches", product(cube, cube, std::nullopt), 1e-2},
      {"float ends need no alignment", product(flat, rows, std::vector<std::int64_t>{5, 32}, at::kFloat), 1e-5},
  });
}

}  // namespace
