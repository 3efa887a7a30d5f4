// Reports of memory faults in the words of compute-sanitizer, so that whatever reads its logs reads ours. What only a
// GPU could know (the offset of the instruction, host frames) is left out; lines of our own say when the allocation was
// made and freed, counted in launches, and where, as far as the host said (set_place).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/vcuda/launch.h"
#include "kernels/vcuda/memory.h"
#include "kernels/vcuda/races.h"
#include "kernels/vcuda/runtime.h"
#include "kernels/vcuda/static_arrays.h"

namespace vcuda {

enum class Space : std::uint8_t { global, shared, constant, local };

struct Fault {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  Access access = Access::read;
  Error error = Error::illegal_address;
  std::string_view place;               // the kernel's short name, or the host's call
  const ThreadState* thread = nullptr;  // null for a call of the host
  Space space = Space::global;
  const StaticArray* array = nullptr;  // in shared and constant memory: the one that was left
  std::int64_t distance = 0;           // in local memory: LocalArrays::distance
};

// `device` is the one that made the access. Requires: the runtime's lock is held.
std::string describe_fault(int device, const Fault& fault);

// A read of memory that nothing wrote. Requires: the runtime's lock is held.
std::string describe_uninitialised(int device, const Fault& fault);

// `block` is the nearest known. Requires: the runtime's lock is held.
std::string describe_bad_free(std::uintptr_t address, bool twice, const FoundBlock& block);

// Requires: the runtime's lock is held.
std::string describe_race(int device, const Races::Race& race);

// A barrier of the running kernel that not all threads of the block reach, and one that does.
std::string describe_divergence(const ThreadState& thread);

}  // namespace vcuda
