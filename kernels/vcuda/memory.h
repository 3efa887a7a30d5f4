// One device's memory: an arena at a fixed address, so that two runs print the same addresses. Allocations are
// 512-byte aligned, at least 256 inaccessible bytes lie between any two, and freed memory waits in a queue before it
// is used again, so that late accesses are seen. With `caching`, freed blocks stay accessible and are reused first,
// which is what hides such accesses behind a real caching allocator.
//
// Not thread-safe: the runtime's lock guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "kernels/vcuda/runtime.h"
#include "kernels/vcuda/shadow.h"
#include "kernels/vcuda/written.h"

namespace vcuda {

inline constexpr std::size_t kAlignment = 512;
inline constexpr std::size_t kRedZone = 256;

enum class BlockState : std::uint8_t { live, cached, quarantined, free };

// A block reaches from its base to the next block's, red zone included.
struct Block {
  std::size_t bytes = 0;     // as asked for
  std::size_t usable = 0;    // rounded up: what the limit counts, and what caching lets kernels touch
  std::size_t capacity = 0;  // with the red zone behind it
  BlockState state = BlockState::free;
  std::uint64_t ordinal = 0;  // the first allocation of a context is 1
  std::uint64_t launches_at_allocation = 0, launches_at_free = 0;
  const char* place_of_allocation = "";
  const char* place_of_free = "";
};

struct FoundBlock {
  std::uintptr_t base = 0;  // 0: none
  Block block;
};

class Arena {
 public:
  // `bytes` of accessible address space at `base`, a zeroed shadow and zeroed bits (written.h) for it. `memory_bytes`
  // bounds the quarantine.
  Arena(std::uintptr_t base, std::size_t bytes, std::uint8_t* shadow, std::uint8_t* written, std::size_t memory_bytes);

  // Null when the limit or the address space is used up. Requires: bytes > 0.
  void* allocate(std::size_t bytes, std::size_t limit, bool caching, Tool tool, std::uint64_t launches);

  enum class Freed : std::uint8_t { yes, stale, twice, unknown };  // stale: a pointer of an earlier context
  Freed deallocate(std::uintptr_t base, bool caching, std::uint64_t launches);

  // True when allocate(bytes) with caching would be served from the cache.
  bool has_cached(std::size_t bytes) const;

  // Really frees the blocks that caching keeps.
  void empty_cache(std::uint64_t launches);

  // Everything as at start, and all memory that was used reads as zero.
  void reset();

  // The live, cached or quarantined block whose bytes hold `address`.
  FoundBlock holding(std::uintptr_t address) const;
  // The one nearest to `address`, live ones before freed ones at the same distance.
  FoundBlock nearest(std::uintptr_t address) const;

  shadow::Range range() const { return {base_, bytes_}; }
  std::uint8_t* shadow() const { return shadow_; }
  Written& written() { return written_; }
  const MemoryStats& stats() const { return stats_; }

 private:
  using Blocks = std::map<std::uintptr_t, Block>;  // by base
  // The cached block that fits `usable` bytes best without wasting half, or the end.
  std::set<std::pair<std::size_t, std::uintptr_t>>::const_iterator find_cached(std::size_t usable) const;
  void open(std::uintptr_t base, const Block& block, std::size_t bytes, Tool tool);
  // A block of `capacity` bytes or a little more, or the end.
  Blocks::iterator take(std::size_t capacity);
  Blocks::iterator take_free(std::size_t capacity);
  void quarantine(Blocks::iterator at, std::uint64_t launches);
  void release(Blocks::iterator at);
  void release_until(std::size_t bound);

  std::uintptr_t base_;
  std::size_t bytes_;
  std::uint8_t* shadow_;
  std::uint8_t* bits_;
  Written written_;
  bool tools_used_ = false;  // bits_ are not all zero
  std::size_t quarantine_bound_;
  std::uintptr_t top_;  // no block was ever above
  std::size_t charged_ = 0;
  std::size_t quarantined_ = 0;
  Blocks blocks_;
  std::set<std::pair<std::size_t, std::uintptr_t>> free_;    // capacity, base
  std::set<std::pair<std::size_t, std::uintptr_t>> cached_;  // usable bytes, base
  std::deque<Blocks::iterator> waiting_;                     // in quarantine, oldest first
  // Bases that were live at a reset and whose owner may still free them: never handed out meanwhile, or that call
  // would free someone else's memory.
  std::set<std::uintptr_t> orphans_;
  MemoryStats stats_;
};

}  // namespace vcuda
