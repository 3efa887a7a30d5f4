// See memory.h.
#include "kernels/vcuda/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "kernels/vcuda/context.h"
#include "kernels/vcuda/races.h"

namespace vcuda {
namespace {

constexpr std::size_t kQuarantineBytes = 16ull << 20;
// A rest smaller than this stays with the block it was cut from.
constexpr std::size_t kSmallestRest = 2 * kAlignment;
// Above this, giving pages back is cheaper than clearing them, and does not touch those never used.
constexpr std::size_t kPagesBound = 1ull << 20;
constexpr std::size_t kPage = 4096;
// What a device maps at once: without a tool, faults show only beyond it.
constexpr std::size_t kDevicePage = 2ull << 20;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// What the device's limit counts, and what a cached block lets kernels touch.
std::size_t usable_bytes(std::size_t bytes) { return round_up(bytes, kAlignment); }

void clear(void* begin, std::size_t bytes) {
  if (bytes > kPagesBound) {
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    const std::uintptr_t page = address / kPage * kPage;
    if (page == address && madvise(begin, round_up(bytes, kPage), MADV_DONTNEED) == 0) return;
  }
  std::memset(begin, 0, bytes);
}

}  // namespace

Arena::Arena(std::uintptr_t base, std::size_t bytes, std::uint8_t* shadow, std::uint8_t* written,
             std::size_t memory_bytes)
    : base_(base),
      bytes_(bytes),
      shadow_(shadow),
      bits_(written),
      written_(written, shadow),
      quarantine_bound_(std::min(kQuarantineBytes, memory_bytes / 4)),
      top_(base + kAlignment) {}

void Arena::open(std::uintptr_t base, const Block& block, std::size_t bytes, Tool tool) {
  const std::size_t offset = base - base_;
  switch (tool) {
    case Tool::none: {
      const std::size_t first = offset / kDevicePage * kDevicePage;
      const std::size_t end = std::min(round_up(offset + bytes, kDevicePage), bytes_);
      shadow::mark_live(shadow_, first, end - first, end - first, false);
      return;
    }
    case Tool::memcheck:
    case Tool::synccheck: return shadow::mark_live(shadow_, offset, bytes, block.capacity, false);
    case Tool::initcheck:
      tools_used_ = true;
      written_.forget(offset, bytes);
      return shadow::mark_live(shadow_, offset, bytes, block.capacity, true);
    case Tool::racecheck:
      races().forget(base, bytes);
      return shadow::mark_live(shadow_, offset, bytes, block.capacity, true);
  }
}

void* Arena::allocate(std::size_t bytes, std::size_t limit, bool caching, Tool tool, std::uint64_t launches) {
  if (bytes > limit) return nullptr;
  const std::size_t charge = usable_bytes(bytes);
  auto at = blocks_.end();
  if (caching) {
    if (const auto found = find_cached(charge); found != cached_.end()) {
      at = blocks_.find(found->second);
      cached_.erase(found);
    }
  }
  if (at == blocks_.end()) {
    if (charged_ + charge > limit) empty_cache(launches);
    if (charged_ + charge > limit) return nullptr;
    at = take(round_up(bytes + kRedZone, kAlignment));
    if (at == blocks_.end()) return nullptr;
    charged_ += charge;
    at->second.usable = charge;
  }
  auto& [base, block] = *at;
  open(base, block, caching ? block.usable : bytes, tool);
  block.bytes = bytes;
  block.state = BlockState::live;
  block.ordinal = ++stats_.total_allocations;
  block.launches_at_allocation = launches;
  block.place_of_allocation = current_place();
  stats_.live_allocations += 1;
  stats_.live_bytes += block.bytes;
  stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.live_bytes);
  return reinterpret_cast<void*>(base);
}

Arena::Freed Arena::deallocate(std::uintptr_t base, bool caching, std::uint64_t launches) {
  const auto found = blocks_.find(base);
  if (found == blocks_.end() || found->second.state != BlockState::live) {
    if (orphans_.erase(base) != 0) return Freed::stale;
    return found == blocks_.end() || found->second.state == BlockState::free ? Freed::unknown : Freed::twice;
  }
  Block& block = found->second;
  stats_.live_allocations -= 1;
  stats_.live_bytes -= block.bytes;
  if (caching) {
    block.state = BlockState::cached;
    block.launches_at_free = launches;
    block.place_of_free = current_place();
    cached_.insert({block.usable, base});
  } else {
    quarantine(found, launches);
  }
  return Freed::yes;
}

bool Arena::has_cached(std::size_t bytes) const { return find_cached(usable_bytes(bytes)) != cached_.end(); }

std::set<std::pair<std::size_t, std::uintptr_t>>::const_iterator Arena::find_cached(std::size_t usable) const {
  const auto found = cached_.lower_bound({usable, 0});
  return found != cached_.end() && found->first <= 2 * usable ? found : cached_.end();
}

void Arena::empty_cache(std::uint64_t launches) {
  for (const auto& [bytes, base] : cached_) quarantine(blocks_.find(base), launches);
  cached_.clear();
}

void Arena::reset() {
  for (const auto& [base, block] : blocks_) {
    if (block.state == BlockState::live) orphans_.insert(base);
  }
  const std::size_t used = top_ - base_;
  clear(shadow_, used / shadow::kGranule);
  if (tools_used_) clear(bits_, used / shadow::kGranule);
  tools_used_ = false;
  clear(reinterpret_cast<void*>(base_), used);
  top_ = base_ + kAlignment;
  charged_ = quarantined_ = 0;
  blocks_.clear();
  free_.clear();
  cached_.clear();
  waiting_.clear();
  stats_ = {};
}

FoundBlock Arena::holding(std::uintptr_t address) const {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return {};
  const auto& [base, block] = *--after;
  if (block.state == BlockState::free || address - base >= block.bytes) return {};
  return {base, block};
}

FoundBlock Arena::nearest(std::uintptr_t address) const {
  FoundBlock best;
  std::uintptr_t best_distance = UINTPTR_MAX;
  const auto consider = [&](std::uintptr_t base, const Block& block) {
    if (block.state == BlockState::free) return;
    const std::uintptr_t end = base + block.bytes;
    const std::uintptr_t distance = address < base ? base - address : address >= end ? address - end + 1 : 0;
    const bool better_state = block.state == BlockState::live && best.block.state != BlockState::live;
    if (distance < best_distance || (distance == best_distance && better_state)) {
      best = {base, block};
      best_distance = distance;
    }
  };
  // The nearest is the first block in use on either side; free ones between are merged, so the walk is short.
  const auto after = blocks_.upper_bound(address);
  for (auto it = after; it != blocks_.end() && best.base == 0; ++it) consider(it->first, it->second);
  for (auto it = after; it != blocks_.begin();) {
    --it;
    consider(it->first, it->second);
    if (it->second.state != BlockState::free) break;
  }
  return best;
}

Arena::Blocks::iterator Arena::take(std::size_t capacity) {
  if (const auto found = take_free(capacity); found != blocks_.end()) return found;
  while (orphans_.contains(top_)) top_ += kAlignment;
  const std::uintptr_t end = base_ + bytes_;
  if (top_ < end && end - top_ >= capacity) {
    const auto made = blocks_.emplace_hint(blocks_.end(), top_, Block{.capacity = capacity});
    top_ += capacity;
    return made;
  }
  release_until(0);
  return take_free(capacity);
}

Arena::Blocks::iterator Arena::take_free(std::size_t capacity) {
  auto found = free_.lower_bound({capacity, 0});
  while (found != free_.end() && orphans_.contains(found->second)) ++found;
  if (found == free_.end()) return blocks_.end();
  const auto [available, base] = *found;
  free_.erase(found);
  const auto at = blocks_.find(base);
  if (available - capacity >= kSmallestRest) {
    at->second.capacity = capacity;
    blocks_.emplace_hint(std::next(at), base + capacity, Block{.capacity = available - capacity});
    free_.insert({available - capacity, base + capacity});
  }
  return at;
}

void Arena::quarantine(Blocks::iterator at, std::uint64_t launches) {
  auto& [base, block] = *at;
  charged_ -= block.usable;
  block.state = BlockState::quarantined;
  block.launches_at_free = launches;
  block.place_of_free = current_place();
  shadow::mark_freed(shadow_, base - base_, block.usable);
  waiting_.push_back(at);
  quarantined_ += block.capacity;
  release_until(quarantine_bound_);
}

void Arena::release_until(std::size_t bound) {
  while (quarantined_ > bound) {
    const auto at = waiting_.front();
    waiting_.pop_front();
    quarantined_ -= at->second.capacity;
    release(at);
  }
}

// Makes a block free and joins it with free neighbours.
void Arena::release(Blocks::iterator at) {
  const std::uintptr_t base = at->first;
  at->second = {.capacity = at->second.capacity};
  if (const auto next = std::next(at);
      next != blocks_.end() && next->second.state == BlockState::free && base + at->second.capacity == next->first) {
    free_.erase({next->second.capacity, next->first});
    at->second.capacity += next->second.capacity;
    blocks_.erase(next);
  }
  if (at != blocks_.begin()) {
    const auto previous = std::prev(at);
    if (previous->second.state == BlockState::free && previous->first + previous->second.capacity == base) {
      free_.erase({previous->second.capacity, previous->first});
      previous->second.capacity += at->second.capacity;
      blocks_.erase(at);
      at = previous;
    }
  }
  free_.insert({at->second.capacity, at->first});
}

}  // namespace vcuda
