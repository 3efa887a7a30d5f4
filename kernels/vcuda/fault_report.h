// Reports of memory faults in the words of compute-sanitizer, so that whatever reads its logs reads ours. What only a
// GPU could know (the offset of the instruction, host frames) is left out; one line of our own says when the
// allocation was made and freed, counted in launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/vcuda/launch.h"
#include "kernels/vcuda/runtime.h"

namespace vcuda {

struct Fault {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  Access access = Access::read;
  Error error = Error::illegal_address;
  std::string_view place;               // the kernel's short name, or the host's call
  const ThreadState* thread = nullptr;  // null for a call of the host
};

// `device` is the one that made the access. Requires: the runtime's lock is held.
std::string describe_fault(int device, const Fault& fault);

std::string describe_bad_free(std::uintptr_t address, bool twice);

}  // namespace vcuda
