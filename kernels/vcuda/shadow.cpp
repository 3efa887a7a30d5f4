// See shadow.h.
#include "kernels/vcuda/shadow.h"

namespace vcuda::shadow {

VCUDA_KERNEL_SIDE constinit Reach reach;

void mark_live(std::uint8_t* shadow, std::size_t offset, std::size_t bytes, std::size_t capacity, bool watched) {
  std::uint8_t* const begin = shadow + offset / kGranule;
  const std::size_t whole = bytes / kGranule;
  const unsigned extra = watched ? kWatched : 0;
  std::memset(begin, static_cast<int>(kGranule + extra), whole);
  std::memset(begin + whole, 0, capacity / kGranule - whole);
  if (bytes % kGranule != 0) begin[whole] = static_cast<std::uint8_t>(bytes % kGranule + extra);
}

void mark_freed(std::uint8_t* shadow, std::size_t offset, std::size_t bytes) {
  std::memset(shadow + offset / kGranule, kFreed, (bytes + kGranule - 1) / kGranule);
}

std::size_t first_bad(const std::uint8_t* shadow, std::size_t offset, std::size_t bytes) {
  const std::size_t end = offset + bytes;
  while (offset < end) {
    // Eight granules at once while they are whole ones.
    if (offset % kGranule == 0 && end - offset >= 8 * kGranule) {
      std::uint64_t eight;
      std::memcpy(&eight, shadow + offset / kGranule, sizeof eight);
      if (eight == 0x0808080808080808u) {
        offset += 8 * kGranule;
        continue;
      }
    }
    const std::size_t open = open_bytes(shadow[offset / kGranule]);
    if (offset % kGranule >= open) return offset;
    offset += open - offset % kGranule;
    if (open < kGranule && offset < end) return offset;
  }
  return end;
}

}  // namespace vcuda::shadow
