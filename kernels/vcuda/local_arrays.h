// The arrays that device threads have on their stacks. The compiler pads each and says at a function's entry and exit
// which bytes are padding (access.cpp); that is kept in a shadow of the stack.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/vcuda/shadow.h"

namespace vcuda {

class LocalArrays {
 public:
  LocalArrays() = default;
  ~LocalArrays();
  LocalArrays(const LocalArrays&) = delete;
  LocalArrays& operator=(const LocalArrays&) = delete;

  // Marks the granules of [address, address + 8 * granules): value 0 is memory in order, 1 to 7 that many bytes of it,
  // all else padding. Outside `stack` nothing happens.
  void mark(const shadow::Range& stack, std::uintptr_t address, std::size_t granules, std::uint8_t value);
  // All of [low, high) is in order: frames that ended without their functions' exits.
  void forget(std::uintptr_t low, std::uintptr_t high);
  bool in_order(std::uintptr_t address, std::size_t bytes) const;
  // How far `address` lies beyond the memory in order below it, as reports count: the first byte past it is 1.
  std::size_t distance_past(std::uintptr_t address) const;

 private:
  std::uint8_t state(std::uintptr_t address) const;

  shadow::Range stack_;
  std::uint8_t* bytes_ = nullptr;  // mapped at the first mark
};

}  // namespace vcuda
