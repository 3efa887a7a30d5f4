// What the launch loop asks of the runtime's tables, and reports back. Each function takes the runtime's lock.
#pragma once

#include <cstdint>

#include "kernels/vcuda/runtime.h"
#include "kernels/vcuda/shadow.h"
#include "kernels/vcuda/stream_order.h"

namespace vcuda {

class Written;

// Where a launch goes.
struct LaunchTarget {
  bool runs = false;  // false: the context is poisoned, or the launch was refused and the last error says why
  int device = 0;
  shadow::Range arena;
  const std::uint8_t* shadow = nullptr;
  std::uint64_t number = 0;  // of the launch, in its context
  Written* written = nullptr;
  // For racecheck only: the stream, the launch's number in it, and how much of other streams comes before it.
  Stream stream = 0;
  std::uint64_t clock = 0;
  KnownWork known;
};
// Counts the launch. `invalid` is what is wrong with it, if anything.
LaunchTarget begin_launch(Stream stream, Error invalid);

// Poisons the device's context; the first failure stays. Requires: is_sticky(failure).
void record_failure(int device, std::uint64_t launch, Error failure);

// The calling host thread's place (set_place), empty but never null. It lives for ever.
const char* current_place();

// A stream's name among all devices' streams: the default ones differ by device.
inline Stream global_stream(Stream stream, int device) { return stream == 0 ? device : stream; }

// The device whose stream that is, if it exists: the low four bits, so that a launch needs no search. Requires: not 0.
int device_of(Stream stream);

}  // namespace vcuda
