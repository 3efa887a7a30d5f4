// The size of one run's coverage: what the worker fills, the executor carries and libFuzzer reads.
#pragma once

#include <cstddef>

namespace dsafuzz {

inline constexpr std::size_t kFeatureBytes = std::size_t{1} << 14;

}  // namespace dsafuzz
