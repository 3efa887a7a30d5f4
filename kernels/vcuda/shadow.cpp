// See shadow.h.
#include "kernels/vcuda/shadow.h"

namespace vcuda::shadow {

VCUDA_KERNEL_SIDE constinit Reach reach;

void mark_live(std::uint8_t* shadow, std::size_t offset, std::size_t bytes, std::size_t capacity) {
  std::uint8_t* const begin = shadow + offset / kGranule;
  const std::size_t whole = bytes / kGranule;
  std::memset(begin, kGranule, whole);
  std::memset(begin + whole, 0, capacity / kGranule - whole);
  if (bytes % kGranule != 0) begin[whole] = static_cast<std::uint8_t>(bytes % kGranule);
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
    const auto open = static_cast<std::int8_t>(shadow[offset / kGranule]);
    if (static_cast<int>(offset % kGranule) >= open) return offset;
    const std::size_t granule = offset - offset % kGranule;
    offset = granule + static_cast<std::size_t>(open);
    if (open < static_cast<int>(kGranule) && offset < end) return offset;
  }
  return end;
}

}  // namespace vcuda::shadow
