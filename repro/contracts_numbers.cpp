// Operators that take probabilities, rates and divisors: random draws, arithmetic, late checks.
#include <array>

#include "repro/contract_row.h"

namespace dsafuzz {
namespace {

constexpr std::string_view kDivision = "torch.floor_divide, other: integer division by zero is undefined";
constexpr std::string_view kAssert = "torch._assert_async: the tensor must be nonzero";
constexpr std::string_view kQuantize = "torch.fake_quantize_per_channel_affine, zero_point";

// A row whose legal values need no size.
constexpr ContractRow row(std::string_view op, std::string_view argument, std::size_t at, Rule rule,
                          std::string_view source, When when = When::always) {
  return {.op = op, .argument = argument, .at = at, .rule = rule, .source = source, .when = when};
}

using enum Rule;
constexpr std::array kRows{
    row("bernoulli", "self", 0, probability, "torch.bernoulli, input", When::alone),
    row("bernoulli", "p", 1, probability, "torch.Tensor.bernoulli_, p"),
    row("poisson", "self", 0, rate, "torch.poisson, input"),
    row("multinomial", "self", 0, weights, "torch.multinomial, input", When::with_replacement),
    ContractRow{"multinomial", "self", 0, weights, Size::number, "num_samples", 1, "num_samples",
                "torch.multinomial, input; Note on drawing without replacement", When::without_replacement},
    row("binomial", "count", 0, rate, "torch.distributions.Binomial, total_count"),
    row("binomial", "prob", 1, probability, "torch.distributions.Binomial, probs"),
    row("_standard_gamma", "self", 0, positive, "torch.distributions.Gamma, concentration"),
    row("_sample_dirichlet", "self", 0, positive, "torch.distributions.Dirichlet, concentration"),
    row("normal", "std", 1, not_negative, "torch.normal, std", When::not_in_place),
    row("exponential", "lambd", 1, positive, "torch.Tensor.exponential_, lambd"),
    row("geometric", "p", 1, probability, "torch.Tensor.geometric_, p"),
    row("floor_divide", "other", 1, divisor, kDivision),
    row("remainder", "other", 1, divisor, kDivision),
    row("fmod", "other", 1, divisor, kDivision),
    row("div", "other", 1, divisor, kDivision, When::rounding),
    row("_assert_async", "self", 0, nonzero, kAssert),
    row("_functional_assert_async", "self", 0, nonzero, kAssert),
    row("histc", "self", 0, finite, "torch.histc, min, max", When::without_range),
    ContractRow{"fake_quantize_per_channel_affine", "zero_point", 2, between, Size::none, "quant_min", 4,
                "quant_min, quant_max", kQuantize},
};

}  // namespace

std::span<const ContractRow> number_contracts() { return kRows; }

}  // namespace dsafuzz
