#include "fuzz/interesting_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace dsafuzz {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Limits of the widths an index passes through on its way to a kernel, each with its neighbours, and the last integers
// that doubles and floats tell apart.
constexpr std::array<std::int64_t, 28> kWidths{127,         128,
                                               -128,        -129,
                                               255,         256,
                                               32767,       32768,
                                               -32768,      -32769,
                                               65535,       65536,
                                               16777216,    16777217,
                                               2147483646,  2147483647,
                                               2147483648,  -2147483648,
                                               -2147483649, 4294967295,
                                               4294967296,  4294967297,
                                               -4294967296, -4294967297,
                                               (1LL << 53), (1LL << 53) + 1,
                                               kMost,       kLeast};
constexpr std::array<std::int64_t, 6> kFar{kMost - 1,        kLeast + 1, (1LL << 53) - 1,
                                           -(1LL << 53) - 1, 1LL << 40,  1LL << 62};

// Sums wrap, as they do in the programs under test.
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t inside(std::int64_t from, std::int64_t to, Random& random) {
  return from < to ? random.between(from, to - 1) : from;
}

constexpr std::array kSpecial{std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              -0.0,
                              0.0,
                              1.0,
                              -1.0,
                              2.0,
                              0.5,
                              -1e-7,
                              1.0 + 1e-7,
                              1.0 + 0x1p-23,  // next float after 1
                              1.0 + 0x1p-10,  // next half after 1
                              static_cast<double>(std::numeric_limits<float>::denorm_min()),
                              std::numeric_limits<double>::denorm_min(),
                              0x1p-24,  // least half
                              static_cast<double>(std::numeric_limits<float>::min()),
                              65504.0,  // greatest half
                              65520.0,  // rounds to infinity in half
                              -65520.0,
                              static_cast<double>(std::numeric_limits<float>::max()),
                              1e300,
                              16777217.0,
                              2147483648.0,
                              1e-30,
                              1e6};

}  // namespace

std::int64_t interesting_integer(const std::optional<Bounds>& bounds, Random& random) {
  const std::int64_t from = bounds && !bounds->real ? bounds->from : 0;
  const std::int64_t to = bounds && !bounds->real ? bounds->to : 1;
  static constexpr std::array<unsigned, 6> kWeights{45, 15, 10, 12, 12, 6};
  switch (random.weighted(kWeights)) {
    case 0: {  // bounds and neighbours
      const std::array edges{plus(from, -1),  from,           plus(to, -1), to, plus(to, 1), std::int64_t{-1},
                             std::int64_t{0}, std::int64_t{1}};
      return random.pick(edges);
    }
    case 1: return inside(from, to, random);
    case 2:  // ignore_index and its like, and beside them
      if (!bounds || bounds->also.empty()) return inside(from, to, random);
      return plus(random.pick(bounds->also), random.one_in(3) ? random.between(-1, 1) : 0);
    case 3: return random.pick(kWidths);
    case 4: {  // legal, had it been cut to 32 bits
      static constexpr std::array<std::int64_t, 6> kTurns{1, -1, 2, -2, 2147483647, -2147483648};
      return plus(inside(from, to, random), random.pick(kTurns) * (std::int64_t{1} << 32));
    }
    default: return random.one_in(2) ? random.pick(kFar) : random.between(kLeast, kMost);
  }
}

double interesting_float(const std::optional<Bounds>& bounds, Random& random) {
  static constexpr std::array<unsigned, 4> kWeights{50, 20, 20, 10};
  switch (random.weighted(kWeights)) {
    case 0: return random.pick(kSpecial);
    case 1: {  // at a bound, or just off it
      const double low = !bounds ? 0 : bounds->real ? bounds->real_from : static_cast<double>(bounds->from);
      const double high = !bounds ? 1 : bounds->real ? bounds->real_to : static_cast<double>(bounds->to);
      static constexpr std::array<double, 5> kSteps{0, -1e-7, 1e-7, -1, 1};
      return (random.one_in(2) ? low : high) + random.pick(kSteps);
    }
    case 2: return static_cast<double>(random.below(1u << 20)) / (1u << 20);
    default: return std::ldexp(static_cast<double>(random.between(-16, 16)), static_cast<int>(random.between(-40, 40)));
  }
}

std::optional<Number> legal_value(const Bounds& bounds, Dtype dtype, Random& random) {
  if (is_floating(dtype)) {
    double low = bounds.real ? bounds.real_from : static_cast<double>(bounds.from);
    double high = bounds.real ? bounds.real_to : static_cast<double>(bounds.to - 1);
    if (!(low <= high)) return std::nullopt;
    // A bound that is none, or that no narrow type holds, gives way to a usual number.
    constexpr double kUsual = 16, kFarOff = 1e6;
    if (low < -kFarOff) low = std::min(-kUsual, high);
    if (high > kFarOff) high = std::max(kUsual, low);
    if (low > 0 && low < 1 / kFarOff && high >= 1) low = 1 / kUsual;
    static constexpr std::array<double, 3> kParts{0, 1, 0.5};
    const double part = random.one_in(2) ? random.pick(kParts) : static_cast<double>(random.below(4096)) / 4096;
    const double value =
        rounded_to(dtype, bounds.real ? low + (high - low) * part : std::floor(low + (high - low) * part));
    return bounds.contain(value) ? std::optional<Number>(value) : std::nullopt;
  }
  if (bounds.real) {
    const Number value = static_cast<std::int64_t>(std::ceil(bounds.real_from));
    return bounds.contain(value) ? std::optional(value) : std::nullopt;
  }
  std::vector<std::int64_t> fitting;
  for (std::int64_t a : bounds.also) {
    if (wrap_to(dtype, a) == a) fitting.push_back(a);
  }
  const std::int64_t from = std::max(bounds.from, least_of(dtype));
  const std::int64_t last = bounds.to == kLeast ? kLeast : std::min(bounds.to - 1, greatest_of(dtype));
  if (from > last || (!fitting.empty() && random.one_in(4))) {
    return fitting.empty() ? std::nullopt : std::optional<Number>(random.pick(fitting));
  }
  const std::array ends{from, last, random.between(from, last)};
  return random.pick(ends);
}

std::int64_t interesting_size(std::int64_t least, std::int64_t most, std::int64_t usual, Random& random) {
  static constexpr std::array<std::int64_t, 13> kEdges{3, 31, 32, 33, 64, 127, 128, 255, 256, 257, 1023, 1024, 1025};
  static constexpr std::array<unsigned, 5> kWeights{35, 20, 15, 10, 20};
  std::int64_t size = usual;
  switch (random.weighted(kWeights)) {
    case 0: size = static_cast<std::int64_t>(random.below(3)); break;
    case 1: size = random.pick(kEdges); break;
    case 2: break;
    case 3: {
      const std::array ends{least, least + 1, most - 1, most};
      size = random.pick(ends);
      break;
    }
    default: {  // as many of each power of two
      const auto width = static_cast<std::uint64_t>(most - least);
      const std::uint64_t bits = random.below(static_cast<std::uint64_t>(std::bit_width(width)) + 1);
      size = least + static_cast<std::int64_t>(std::min(width, random.below(std::uint64_t{1} << bits)));
    }
  }
  return std::clamp(size, least, most);
}

}  // namespace dsafuzz
