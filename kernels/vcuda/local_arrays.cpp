// See local_arrays.h.
#include "kernels/vcuda/local_arrays.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace vcuda {
namespace {

using shadow::kGranule;

}  // namespace

LocalArrays::LocalArrays(const shadow::Range& stack) {
  void* const map = mmap(nullptr, stack.bytes / kGranule + 2, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) {
    std::perror("vcuda: no address space for the shadow of a stack");
    std::abort();
  }
  bytes_ = static_cast<std::uint8_t*>(map);
  stack_ = stack;
}

LocalArrays::~LocalArrays() { munmap(bytes_, stack_.bytes / kGranule + 2); }

void LocalArrays::mark(std::uintptr_t address, std::size_t granules, std::uint8_t value) {
  if (granules == 0 || !stack_.holds(address) || !stack_.holds(address + granules * kGranule - 1)) return;
  std::memset(bytes_ + (address - stack_.begin) / kGranule, value, granules);
}

void LocalArrays::forget(std::uintptr_t low, std::uintptr_t high) {
  low = std::max(low, stack_.begin);
  high = std::min(high, stack_.begin + stack_.bytes);
  if (low < high) std::memset(bytes_ + (low - stack_.begin) / kGranule, 0, (high - low + kGranule - 1) / kGranule);
}

std::uint8_t LocalArrays::state(std::uintptr_t address) const {
  return !stack_.holds(address) ? 0 : bytes_[(address - stack_.begin) / kGranule];
}

bool LocalArrays::in_order(std::uintptr_t address, std::size_t bytes) const {
  std::uintptr_t granule = address / kGranule * kGranule;
  while (granule < address + bytes && state(granule) == 0) granule += kGranule;
  if (granule >= address + bytes) return true;
  for (std::uintptr_t at = address; at < address + bytes; ++at) {
    const std::uint8_t now = state(at);
    if (now != 0 && (now >= kGranule || at % kGranule >= now)) return false;
  }
  return true;
}

std::int64_t LocalArrays::distance(std::uintptr_t address) const {
  constexpr std::int64_t kFar = 256;
  for (std::int64_t away = 1; away < kFar; ++away) {
    const auto bytes = static_cast<std::uintptr_t>(away);
    if (in_order(address - bytes, 1)) return away;
    if (in_order(address + bytes, 1)) return -away;
  }
  return 0;
}

}  // namespace vcuda
