// Which indices along an axis stay when it shrinks: some of those singled out, and the first of all others, which are
// interchangeable. Takes memory for the singled-out ones only, since an axis may have billions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace dsafuzz {

class KeptIndices {
 public:
  // Of indices [0, size): `chosen` of the `singled_out`, and the first `others` of the rest. Both lists ascend.
  // Requires: chosen is a subset of singled_out, others <= size - singled_out.size().
  KeptIndices(std::int64_t size, std::vector<std::int64_t> singled_out, std::vector<std::int64_t> chosen,
              std::int64_t others)
      : size_(size), singled_out_(std::move(singled_out)), chosen_(std::move(chosen)), others_(others) {}
  // The first `count` of them; more than `size` where the axis grows.
  static KeptIndices first(std::int64_t size, std::int64_t count) { return {size, {}, {}, count}; }

  std::int64_t size() const { return size_; }
  std::int64_t count() const { return others_ + static_cast<std::int64_t>(chosen_.size()); }

  // Where an index is afterwards; -1: gone. Requires: 0 <= old < size().
  std::int64_t new_index(std::int64_t old) const {
    const std::int64_t other = old - below(singled_out_, old);
    if (std::ranges::binary_search(singled_out_, old)) {
      if (!std::ranges::binary_search(chosen_, old)) return -1;
      return below(chosen_, old) + std::min(other, others_);
    }
    return other < others_ ? below(chosen_, old) + other : -1;
  }

 private:
  static std::int64_t below(const std::vector<std::int64_t>& list, std::int64_t index) {
    return std::ranges::lower_bound(list, index) - list.begin();
  }

  std::int64_t size_;
  std::vector<std::int64_t> singled_out_, chosen_;
  std::int64_t others_;
};

}  // namespace dsafuzz
