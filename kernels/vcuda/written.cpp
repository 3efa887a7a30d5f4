// See written.h.
#include "kernels/vcuda/written.h"

#include <cstring>
#include <vector>

namespace vcuda {
namespace {

using shadow::kGranule;
constexpr std::uint8_t kAll = 0xff;

}  // namespace

void Written::set(std::size_t at, bool on) {
  const auto mask = static_cast<std::uint8_t>(1u << (at % kGranule));
  std::uint8_t& bits = bits_[at / kGranule];
  bits = static_cast<std::uint8_t>(on ? bits | mask : bits & ~mask);
}

void Written::update_shadow(std::size_t granule) {
  std::uint8_t& state = shadow_[granule];
  const std::size_t open = shadow::open_bytes(state);
  if (open == 0) return;
  const bool all = open == kGranule && bits_[granule] == kAll;
  state = static_cast<std::uint8_t>(open + (all ? 0 : shadow::kWatched));
}

void Written::forget(std::size_t offset, std::size_t bytes) {
  std::memset(bits_ + offset / kGranule, 0, (bytes + kGranule - 1) / kGranule);
}

void Written::mark(std::size_t offset, std::size_t bytes) {
  const std::size_t end = offset + bytes;
  while (offset < end) {
    const std::size_t granule = offset / kGranule;
    if (offset % kGranule == 0 && end - offset >= kGranule) {
      bits_[granule] = kAll;
      offset += kGranule;
    } else {
      set(offset++, true);
      if (offset % kGranule != 0 && offset < end) continue;
    }
    update_shadow(granule);
  }
}

void Written::copy(std::size_t to, const Written& other, std::size_t from, std::size_t bytes) {
  std::vector<bool> bits(bytes);
  for (std::size_t i = 0; i < bytes; ++i) bits[i] = other.bit(from + i);
  for (std::size_t i = 0; i < bytes; ++i) set(to + i, bits[i]);
  for (std::size_t granule = to / kGranule; granule * kGranule < to + bytes; ++granule) update_shadow(granule);
}

bool Written::holds(std::size_t offset, std::size_t bytes) const {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (!bit(offset + i)) return false;
  }
  return true;
}

}  // namespace vcuda
