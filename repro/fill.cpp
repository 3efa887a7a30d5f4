#include "repro/fill.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace dsafuzz {
namespace {

// Counter-based randomness: element i's bits are a mix of the tensor's key and i, so any element can be computed alone
// and a slice does not depend on what stands before it.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }  // [0, 1)

std::uint64_t key_of(const Case& c, const TensorSpec& t) {
  return mix(c.seed ^ XXH3_64bits(t.name.data(), t.name.size()));
}

// Box-Muller; 1 - u is in (0, 1], so the logarithm is finite.
double normal(std::uint64_t bits) {
  return std::sqrt(-2 * std::log(1 - unit(bits))) * std::cos(2 * std::numbers::pi * unit(mix(bits)));
}

// Element i depends on the key and i alone, so the beginnings of the sequences used last are kept: a search runs
// thousands of cases with the same weights, at ever other sizes, and the logarithm and cosine would be a tenth of it.
void fill_normal(std::uint64_t key, std::span<double> out) {
  constexpr std::size_t kSequences = 16, kKept = std::size_t{1} << 16;
  struct Sequence {
    std::uint64_t key = 0;
    std::vector<double> values;
  };
  thread_local std::array<Sequence, kSequences> sequences;
  Sequence& kept = sequences[mix(key) % kSequences];
  if (kept.key != key) {
    kept.key = key;
    kept.values.clear();
  }
  const std::size_t shared = std::min(out.size(), kKept);
  while (kept.values.size() < shared) kept.values.push_back(normal(mix(key + kept.values.size())));
  std::copy_n(kept.values.begin(), shared, out.begin());
  for (std::size_t i = shared; i < out.size(); ++i) out[i] = normal(mix(key + i));
}

// A floating number as an integer dtype stores it; what does not fit is 0, as no device defines it.
std::int64_t to_integer(const Number& n) {
  if (const auto* i = std::get_if<std::int64_t>(&n)) return *i;
  const double d = std::get<double>(n);
  return d >= -0x1p63 && d < 0x1p63 ? static_cast<std::int64_t>(d) : 0;
}

}  // namespace

void fill_integers(const Case& c, const TensorSpec& tensor, std::span<std::int64_t> out) {
  const Fill& f = tensor.fill;
  const std::int64_t count = static_cast<std::int64_t>(out.size());
  switch (f.kind) {
    case Fill::Kind::constant: std::ranges::fill(out, to_integer(f.constant)); break;
    case Fill::Kind::arange:
      for (std::int64_t i = 0; i < count; ++i) out[i] = i;
      break;
    case Fill::Kind::literal:
      for (std::int64_t i = 0; i < count; ++i) out[i] = to_integer(f.literal[i % f.literal.size()]);
      break;
    case Fill::Kind::uniform:
    case Fill::Kind::randn:
    case Fill::Kind::randint: {
      // An empty interval gives its lower end.
      const bool sized = f.kind == Fill::Kind::randint;
      const std::int64_t from = sized ? evaluate(f.from, c.shapes).value_or(0) : to_integer(f.low);
      const std::int64_t to = sized ? evaluate(f.to, c.shapes).value_or(0) : to_integer(f.high);
      const std::uint64_t width = to > from ? static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from) : 1;
      const std::uint64_t key = key_of(c, tensor);
      for (std::int64_t i = 0; i < count; ++i)
        out[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + mix(key + i) % width);
      break;
    }
  }
  for (const auto& [index, number] : tensor.set) {
    if (index < count) out[index] = to_integer(number);
  }
  if (tensor.dtype == Dtype::int64) return;
  for (std::int64_t& v : out) v = wrap_to(tensor.dtype, v);
}

void fill_floats(const Case& c, const TensorSpec& tensor, std::span<double> out) {
  const Fill& f = tensor.fill;
  const std::int64_t count = static_cast<std::int64_t>(out.size());
  const std::uint64_t key = key_of(c, tensor);
  switch (f.kind) {
    case Fill::Kind::constant: std::ranges::fill(out, as_double(f.constant)); break;
    case Fill::Kind::arange:
      for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<double>(i);
      break;
    case Fill::Kind::literal:
      for (std::int64_t i = 0; i < count; ++i) out[i] = as_double(f.literal[i % f.literal.size()]);
      break;
    case Fill::Kind::uniform:
      for (std::int64_t i = 0; i < count; ++i) out[i] = f.low + (f.high - f.low) * unit(mix(key + i));
      break;
    case Fill::Kind::randint: {
      const std::int64_t from = evaluate(f.from, c.shapes).value_or(0), to = evaluate(f.to, c.shapes).value_or(0);
      const std::uint64_t width = to > from ? static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from) : 1;
      for (std::int64_t i = 0; i < count; ++i) {
        out[i] =
            static_cast<double>(static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + mix(key + i) % width));
      }
      break;
    }
    case Fill::Kind::randn: fill_normal(key, out); break;
  }
  for (const auto& [index, number] : tensor.set) {
    if (index < count) out[index] = as_double(number);
  }
}

std::vector<Number> contents(const Case& c, const TensorSpec& tensor) {
  const auto shape = concrete_shape(tensor, c.shapes);
  return first_contents(c, tensor, shape ? element_count(*shape) : 0);
}

std::vector<Number> first_contents(const Case& c, const TensorSpec& tensor, std::int64_t wanted) {
  const std::size_t count = static_cast<std::size_t>(wanted);
  std::vector<Number> out;
  out.reserve(count);
  if (is_floating(tensor.dtype)) {
    std::vector<double> values(count);
    fill_floats(c, tensor, values);
    out.assign(values.begin(), values.end());
  } else {
    std::vector<std::int64_t> values(count);
    fill_integers(c, tensor, values);
    out.assign(values.begin(), values.end());
  }
  return out;
}

TensorSpec with_literal_contents(const Case& c, const TensorSpec& tensor) {
  TensorSpec out = tensor;
  out.fill = Fill{};
  out.fill.kind = Fill::Kind::literal;
  out.fill.literal = contents(c, tensor);
  out.set.clear();
  return out;
}

}  // namespace dsafuzz
