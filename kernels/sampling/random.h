// Random numbers for kernels: Philox4x32-10, the counter-based generator of CUDA's library. Each number is a function
// of seed, element and position alone, so results do not depend on the launch's shape or on the order of threads.
// For device code: include after device_language.h.
#pragma once

#include <cmath>

#include "kernels/vcuda/device_language.h"

namespace kernels {

struct RandomWords {
  std::uint32_t word[4];
};

// Block number `position` of element `element`'s numbers.
__device__ inline RandomWords random_words(std::uint64_t seed, std::uint64_t element, std::uint64_t position) {
  std::uint32_t a = static_cast<std::uint32_t>(position), b = static_cast<std::uint32_t>(position >> 32);
  std::uint32_t c = static_cast<std::uint32_t>(element), d = static_cast<std::uint32_t>(element >> 32);
  std::uint32_t low_key = static_cast<std::uint32_t>(seed), high_key = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = std::uint64_t{0xD2511F53u} * a;
    const std::uint64_t second = std::uint64_t{0xCD9E8D57u} * c;
    a = static_cast<std::uint32_t>(second >> 32) ^ b ^ low_key;
    b = static_cast<std::uint32_t>(second);
    c = static_cast<std::uint32_t>(first >> 32) ^ d ^ high_key;
    d = static_cast<std::uint32_t>(first);
    low_key += 0x9E3779B9u;
    high_key += 0xBB67AE85u;
  }
  return {{a, b, c, d}};
}

// In (0, 1], as CUDA's uniform numbers are: zero never comes, one may.
__device__ inline double uniform_of(std::uint32_t word) { return (static_cast<double>(word) + 1) / 4294967296.0; }

// The numbers of one element, one after the other.
struct RandomStream {
  std::uint64_t seed, element, position;
  RandomWords words;
  int used;
};
__device__ inline RandomStream stream_of(std::uint64_t seed, std::uint64_t element) {
  return {seed, element, 0, random_words(seed, element, 0), 0};
}
__device__ inline double next_uniform(RandomStream& stream) {
  if (stream.used == 4) {
    stream.words = random_words(stream.seed, stream.element, ++stream.position);
    stream.used = 0;
  }
  return uniform_of(stream.words.word[stream.used++]);
}
__device__ inline double next_normal(RandomStream& stream) {
  const double radius = std::sqrt(-2 * std::log(next_uniform(stream)));
  return radius * std::cos(6.283185307179586 * next_uniform(stream));
}

}  // namespace kernels
