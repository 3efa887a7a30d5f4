// initcheck's memory: which bytes of an arena a kernel, a copy or a fill has written since they were allocated. One bit
// a byte. A granule that is written in full is no longer watched, so its accesses take the fast way again.
//
// Not thread-safe: the runtime's lock, or the one grid that runs under this tool, guards it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/vcuda/shadow.h"

namespace vcuda {

class Written {
 public:
  // `bits` is zeroed and holds a byte for each granule of the arena; `shadow` is the arena's.
  Written(std::uint8_t* bits, std::uint8_t* shadow) : bits_(bits), shadow_(shadow) {}

  // All offsets are the arena's.
  void forget(std::size_t offset, std::size_t bytes);
  void mark(std::size_t offset, std::size_t bytes);
  // [to, to + bytes) becomes as [from, from + bytes) of `other` is. The ranges may overlap.
  void copy(std::size_t to, const Written& other, std::size_t from, std::size_t bytes);
  bool holds(std::size_t offset, std::size_t bytes) const;

 private:
  bool bit(std::size_t at) const { return (bits_[at / shadow::kGranule] >> (at % shadow::kGranule) & 1) != 0; }
  void set(std::size_t at, bool on);
  void update_shadow(std::size_t granule);

  std::uint8_t* bits_;
  std::uint8_t* shadow_;
};

}  // namespace vcuda
