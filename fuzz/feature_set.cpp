#include "fuzz/feature_set.h"

#include <algorithm>
#include <cstring>

#include "repro/features.h"

namespace dsafuzz {
namespace {

// libFuzzer's buckets of a counter: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128 and more.
unsigned bucket_of(std::uint8_t count) {
  static constexpr std::uint8_t kFloors[]{1, 2, 3, 4, 8, 16, 32, 128};
  return static_cast<unsigned>(std::upper_bound(std::begin(kFloors), std::end(kFloors), count) - kFloors - 1);
}

}  // namespace

FeatureSet::FeatureSet() : buckets_(kFeatureBytes) {}

std::uint64_t FeatureSet::add(std::span<const std::uint8_t> counters) {
  std::uint64_t added = 0;
  for (std::size_t i = 0; i < counters.size() && i < buckets_.size(); ++i) {
    // Most counters are zero: eight at a time.
    if (i % 8 == 0 && i + 8 <= counters.size()) {
      std::uint64_t word = 0;
      std::memcpy(&word, counters.data() + i, sizeof word);
      if (word == 0) {
        i += 7;
        continue;
      }
    }
    if (counters[i] == 0) continue;
    const auto bit = static_cast<std::uint8_t>(1u << bucket_of(counters[i]));
    if (buckets_[i] & bit) continue;
    buckets_[i] |= bit;
    ++added;
  }
  size_ += added;
  return added;
}

}  // namespace dsafuzz
