// See races.h.
#include "kernels/vcuda/races.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/vcuda/shadow.h"

namespace vcuda {
namespace {

using shadow::kGranule;

// Records kept for a granule, and readers or atomics of the same bytes among them: whoever comes next, one of two
// differs from it.
constexpr std::size_t kMostRecords = 8;
constexpr std::ptrdiff_t kMostAlike = 2;

std::uint8_t mask_of(std::uintptr_t granule, std::uintptr_t begin, std::uintptr_t end) {
  const std::uintptr_t first = std::max(begin, granule), last = std::min(end, granule + kGranule);
  return static_cast<std::uint8_t>(((1u << (last - first)) - 1) << (first - granule));
}

bool conflict(Access a, Access b) {
  if (a == Access::read && b == Access::read) return false;
  return a != Access::atomic || b != Access::atomic;
}

}  // namespace

Races& races() {
  static Races only;
  return only;
}

void Races::begin_grid(const char* kernel, Stream stream, std::uint64_t clock, KnownWork known) {
  kernel_ = kernel;
  stream_ = stream;
  clock_ = clock;
  known_ = std::move(known);
  ++grid_;
  found_.reset();
  pending_.reset();
  told_ = false;
}

bool Races::ordered(const Record& before, const Record& now) const {
  if (before.grid != now.grid) {
    return before.actor.stream == now.actor.stream || known_.holds(before.actor.stream, before.clock);
  }
  if (before.actor.block != now.actor.block) return false;
  return before.actor.thread == now.actor.thread || before.phase != now.phase;
}

void Races::touch(std::uintptr_t granule, const Record& now, const Race& as_race) {
  std::vector<Record>& records = cells_[granule];
  for (const Record& before : records) {
    if ((before.mask & now.mask) == 0 || !conflict(before.actor.access, now.actor.access) || ordered(before, now)) {
      continue;
    }
    Race race = as_race;
    race.before = before.actor;
    race.in_streams = before.grid != now.grid;
    const bool both_store = before.actor.access == Access::write && now.actor.access == Access::write;
    if (both_store && !race.in_streams && race.bytes <= sizeof(Pending::bytes)) {
      if (pending_) continue;
      pending_.emplace(Pending{race, {}});
      std::memcpy(pending_->bytes.data(), reinterpret_cast<const void*>(race.address), race.bytes);
    } else if (!found_) {
      found_ = race;
    }
  }
  // What the new record stands for as well: whatever races with the old one races with it.
  std::erase_if(records, [&](const Record& before) {
    const bool covers = now.actor.access == Access::write || before.actor.access == now.actor.access;
    return covers && (before.mask & ~now.mask) == 0 && ordered(before, now);
  });
  const auto alike = [&](const Record& r) { return r.actor.access == now.actor.access && r.mask == now.mask; };
  if (std::ranges::count_if(records, alike) >= kMostAlike) records.erase(std::ranges::find_if(records, alike));
  if (records.size() >= kMostRecords) records.erase(records.begin());
  records.push_back(now);
}

std::optional<Races::Race> Races::note(std::uintptr_t address, std::size_t bytes, Access access, std::uint32_t phase) {
  if (told_) return std::nullopt;
  std::optional<Race> before = settle();
  if (before) return before;
  const ThreadState& at = current_thread();
  const Actor actor{access, kernel_, at.thread, at.block, stream_};
  const std::uintptr_t end = address + bytes;
  for (std::uintptr_t granule = address / kGranule * kGranule; granule < end; granule += kGranule) {
    touch(granule, {actor, mask_of(granule, address, end), phase, clock_, grid_}, {actor, {}, address, bytes, false});
  }
  if (!found_) return std::nullopt;
  told_ = true;
  return found_;
}

std::optional<Races::Race> Races::settle() {
  if (!pending_) return std::nullopt;
  const Pending pending = *std::exchange(pending_, std::nullopt);
  const void* const now = reinterpret_cast<const void*>(pending.race.address);
  if (std::memcmp(now, pending.bytes.data(), pending.race.bytes) == 0) return std::nullopt;
  told_ = true;
  return pending.race;
}

void Races::forget(std::uintptr_t address, std::size_t bytes) {
  const std::uintptr_t end = address + bytes;
  if (bytes / kGranule > cells_.size()) {
    std::erase_if(cells_, [&](const auto& cell) { return cell.first >= address && cell.first < end; });
    return;
  }
  for (std::uintptr_t granule = address / kGranule * kGranule; granule < end; granule += kGranule) {
    cells_.erase(granule);
  }
}

}  // namespace vcuda
