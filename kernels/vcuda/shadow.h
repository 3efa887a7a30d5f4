// Shadow memory: one byte says how many of eight bytes of a device's arena a kernel may touch. Zero means none, so
// memory that was never allocated needs no preparation. The check behind each load and store is the inline part of
// this file; everything rare is in access.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/vcuda/launch.h"

namespace vcuda::shadow {

inline constexpr std::size_t kGranule = 8;
// No count of bytes, so that the inline comparison rejects it.
inline constexpr std::uint8_t kFreed = 0xfd;
// Added to a granule's count: a tool wants to know of every access, so the inline check must not let it pass.
inline constexpr std::uint8_t kWatched = 0x40;

// How many bytes of a granule in this state may be touched.
inline std::size_t open_bytes(std::uint8_t state) { return state == kFreed ? 0 : state & 0x0f; }

// A half-open range of addresses.
struct Range {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  bool holds(std::uintptr_t address) const { return address - begin < bytes; }
};

// What the running kernel may touch, besides the stack that it runs on; all empty while none runs.
struct Reach {
  Range arena;                          // of its device; other devices' memory is not mapped for it
  const std::uint8_t* bytes = nullptr;  // the shadow of `arena`
  Range statics;                        // constants and shared memory of the kernels' library
};
VCUDA_KERNEL_SIDE extern Reach reach;

// Marks [offset, offset + bytes) of an arena accessible, and from there to `capacity` not. Requires: granule-aligned
// offset and capacity.
void mark_live(std::uint8_t* shadow, std::size_t offset, std::size_t bytes, std::size_t capacity, bool watched);
void mark_freed(std::uint8_t* shadow, std::size_t offset, std::size_t bytes);

// The offset of the first byte in [offset, offset + bytes) that may not be touched, or offset + bytes.
std::size_t first_bad(const std::uint8_t* shadow, std::size_t offset, std::size_t bytes);

// True when an aligned access of `kBytes` (1, 2, 4, 8 or 16) at `address` is one the running kernel may make. False
// says only that the slow path must decide: about shared memory and constants, a granule that ends an allocation, and
// all memory that a tool watches. 16 bytes need alignment to 8: the compiler joins two stores of 8.
template <std::size_t kBytes>
[[gnu::always_inline]] inline bool is_plainly_fine(std::uintptr_t address) {
  constexpr std::size_t kAlignment = kBytes < kGranule ? kBytes : kGranule;
  // Whole granules in order: in the arena's shadow the number of their bytes, in a stack's zero.
  const auto whole = [address](const std::uint8_t* at, std::uint8_t state) {
    if constexpr (kBytes == 16) {
      std::uint16_t both;
      std::memcpy(&both, at, sizeof both);
      return ((address % kAlignment) | static_cast<unsigned>(both ^ (state * 0x0101))) == 0;
    } else {
      return ((address % kAlignment) | static_cast<unsigned>(*at ^ state)) == 0;
    }
  };
  if (const std::size_t offset = address - reach.arena.begin; offset < reach.arena.bytes) {
    return whole(reach.bytes + offset / kGranule, kGranule);
  }
  const ThreadState& thread = current_thread_state;
  const std::size_t offset = address - thread.stack_begin;
  return offset < thread.stack_bytes && whole(thread.stack_shadow + offset / kGranule, 0);
}

// The same for any number of bytes of an arena, at least one.
[[gnu::always_inline]] inline bool are_plainly_fine(std::uintptr_t address, std::size_t bytes) {
  const std::size_t offset = address - reach.arena.begin;
  if (offset >= reach.arena.bytes || bytes > reach.arena.bytes - offset) return false;
  const std::size_t end = offset + bytes - 1;  // the last byte
  const std::uint8_t* at = reach.bytes + offset / kGranule;
  const std::uint8_t* const last = reach.bytes + end / kGranule;
  for (; last - at >= 7; at += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, at, sizeof eight);
    if (eight != kGranule * 0x0101010101010101u) break;
  }
  for (; at < last; ++at) {
    if (*at != kGranule) return false;
  }
  return at > last || (*last > end % kGranule && *last <= kGranule);
}

}  // namespace vcuda::shadow
