// A small seeded generator (xoshiro256**, seeded by splitmix64). The standard library's distributions differ between
// implementations; every random choice of the fuzzer must be the same on all of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace dsafuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) word = mixed(seed += 0x9e3779b97f4a7c15u);
  }

  std::uint64_t next() {
    const std::uint64_t result = rotated(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotated(state_[3], 45);
    return result;
  }

  // In [0, limit). Requires: limit > 0. The bias is below limit / 2^64.
  std::uint64_t below(std::uint64_t limit) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * limit) >> 64);
  }
  // In [least, most]. Requires: least <= most.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    const std::uint64_t width = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
    const std::uint64_t offset = width == UINT64_MAX ? next() : below(width + 1);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + offset);
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  // Requires: !items.empty().
  template <typename Range>
  auto& pick(Range&& items) {
    return items[below(std::size(items))];
  }
  // An index into `weights`, as often as its weight says. Requires: a positive sum.
  std::size_t weighted(std::span<const unsigned> weights) {
    std::uint64_t sum = 0;
    for (unsigned w : weights) sum += w;
    std::uint64_t at = below(sum);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (at < weights[i]) return i;
      at -= weights[i];
    }
    return weights.size() - 1;
  }

  // A well-mixed 64-bit hash of a number: for seeds derived from other seeds.
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }

 private:
  static std::uint64_t rotated(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace dsafuzz
