// What is known to come before what among launches in different streams: vector clocks. A stream's own work is in
// order; between streams only events and the host's waiting make order. Streams here are the runtime's, the default
// ones too.
//
// Not thread-safe: the runtime's lock guards it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "kernels/vcuda/runtime.h"

namespace vcuda {

class StreamOrder {
 public:
  // One more piece of work on `stream`: its number there, from 1.
  std::uint64_t add(Stream stream);
  using Clocks = std::map<Stream, std::uint64_t>;
  // How much of each other stream comes before what was added last to `stream`.
  const Clocks& known(Stream stream) { return known_[stream]; }

  Event record(Stream stream);
  void wait(Stream stream, Event event);  // nothing for an event that does not exist
  void wait_on_host();                    // the host waits for all streams
  void reset() { *this = {}; }

 private:
  static void merge(Clocks& into, const Clocks& from);

  Clocks own_;                      // how much each stream has
  Clocks host_;                     // how much of it the host has waited for
  std::map<Stream, Clocks> known_;  // and each stream
  std::vector<Clocks> events_;      // number N is element N - 1
};

}  // namespace vcuda
