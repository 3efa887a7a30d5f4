// The (counter, bucket) pairs that runs have shown, as libFuzzer counts them: a counter that was hit 1, 2, 3, 4-7, ...
// times is another feature each time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dsafuzz {

class FeatureSet {
 public:
  FeatureSet();
  // Returns how many of the run's features are new. `counters` has kFeatureBytes (features.h).
  std::uint64_t add(std::span<const std::uint8_t> counters);
  std::uint64_t size() const { return size_; }

 private:
  std::vector<std::uint8_t> buckets_;  // one byte a counter, one bit a bucket
  std::uint64_t size_ = 0;
};

}  // namespace dsafuzz
