// What is known to come before what among launches in different streams: vector clocks. A stream's own work is in
// order; between streams only events and the host's waiting make order. Streams here are the runtime's, the default
// ones too. All work is numbered through, so what the host has waited for is one number, and the rest can be forgotten
// then.
//
// Not thread-safe: the runtime's lock guards it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "kernels/vcuda/runtime.h"

namespace vcuda {

// How much of the others' work comes before some piece: all up to `host`, and of each stream all up to its number.
struct KnownWork {
  std::uint64_t host = 0;
  std::map<Stream, std::uint64_t> streams;
  bool holds(Stream stream, std::uint64_t number) const;
};

class StreamOrder {
 public:
  // One more piece of work on `stream`: its number, from 1.
  std::uint64_t add(Stream stream);
  // What comes before what was added last to `stream`.
  KnownWork known(Stream stream) const;

  Event record(Stream stream);
  void wait(Stream stream, Event event);  // nothing for an event that does not exist
  void wait_on_host();                    // the host waits for all streams
  void reset() { *this = {}; }

 private:
  using Clocks = std::map<Stream, std::uint64_t>;

  std::uint64_t added_ = 0;
  std::uint64_t host_ = 0;          // of it the host has waited for
  Clocks own_;                      // the last piece of each stream, since
  std::map<Stream, Clocks> known_;  // what each stream has waited for, since
  std::vector<Clocks> events_;      // recorded since; the first has the number first_event_
  Event first_event_ = 1;
};

}  // namespace vcuda
