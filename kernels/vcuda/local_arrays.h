// The arrays that device threads have on their stacks. The compiler pads each and says at a function's entry and exit
// which bytes are padding (access.cpp); that is kept in a shadow of the stack.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/vcuda/shadow.h"

namespace vcuda {

class LocalArrays {
 public:
  // Of a stack, which must stay where it is. Ends the process where there is no address space for the shadow.
  explicit LocalArrays(const shadow::Range& stack);
  ~LocalArrays();
  LocalArrays(const LocalArrays&) = delete;
  LocalArrays& operator=(const LocalArrays&) = delete;

  // A byte a granule: 0 is memory in order, 1 to 7 that many bytes of it, all else padding. One more than the stack
  // has, so that two may be read at once.
  const std::uint8_t* bytes() const { return bytes_; }
  const shadow::Range& stack() const { return stack_; }

  // Marks the granules of [address, address + 8 * granules). Outside the stack nothing happens.
  void mark(std::uintptr_t address, std::size_t granules, std::uint8_t value);
  // All of [low, high) is in order: frames that ended without their functions' exits.
  void forget(std::uintptr_t low, std::uintptr_t high);
  bool in_order(std::uintptr_t address, std::size_t bytes) const;
  // How far `address` lies past the memory in order below it, the first byte past it being 1; or, negative, before the
  // memory in order above it, whichever is nearer. 0: neither is near.
  std::int64_t distance(std::uintptr_t address) const;

 private:
  std::uint8_t state(std::uintptr_t address) const;

  shadow::Range stack_;
  std::uint8_t* bytes_;
};

}  // namespace vcuda
