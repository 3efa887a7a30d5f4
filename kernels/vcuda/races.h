// racecheck's memory: who last touched which bytes, and whether anything orders that before the access that comes now.
// Two accesses race when they touch a byte in common, at least one writes, not both are atomic, and neither
// - the same thread makes both, nor
// - a barrier of their block lies between them, nor
// - their launches are ordered (stream_order.h).
// Two plain stores of the same value are let pass, as compute-sanitizer does: whoever comes last, the result is the
// same. Since a store is seen before it happens, that is judged at the next access.
//
// The order in which threads run here does not matter: what counts is that nothing makes them run in it.
// Not thread-safe: one grid runs at a time under this tool.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/vcuda/launch.h"
#include "kernels/vcuda/stream_order.h"

namespace vcuda {

class Races {
 public:
  struct Actor {
    Access access = Access::read;
    const char* kernel = nullptr;
    Dim3 thread, block;
    Stream stream = 0;
  };
  struct Race {
    Actor now, before;
    std::uintptr_t address = 0;
    std::size_t bytes = 0;
    bool in_streams = false;  // of two launches
  };
  // `clock` and `known` are those of stream_order.h.
  void begin_grid(const char* kernel, Stream stream, std::uint64_t clock, KnownWork known);
  // One of the thread that runs now; `phase` counts the barriers that its block has passed. A race that it completes is
  // returned by this call, the next one or settle(); only the first of a grid.
  std::optional<Race> note(std::uintptr_t address, std::size_t bytes, Access access, std::uint32_t phase);
  std::optional<Race> settle();
  // Memory is new, or shared memory belongs to another block from now on.
  void forget(std::uintptr_t address, std::size_t bytes);
  void reset() { *this = {}; }

 private:
  struct Record {
    Actor actor;
    std::uint8_t mask = 0;  // of the granule's bytes
    std::uint32_t phase = 0;
    std::uint64_t clock = 0, grid = 0;
  };
  struct Pending {
    Race race;
    std::array<std::byte, 16> bytes{};  // what was there before the store
  };
  bool ordered(const Record& before, const Record& now) const;
  void touch(std::uintptr_t granule, const Record& now, const Race& as_race);

  std::unordered_map<std::uintptr_t, std::vector<Record>> cells_;
  const char* kernel_ = nullptr;
  Stream stream_ = 0;
  std::uint64_t clock_ = 0, grid_ = 0;
  KnownWork known_;
  std::optional<Race> found_;
  std::optional<Pending> pending_;
  bool told_ = false;
};

// The process's. Requires: as above.
Races& races();

}  // namespace vcuda
