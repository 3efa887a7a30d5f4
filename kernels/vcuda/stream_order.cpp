// See stream_order.h.
#include "kernels/vcuda/stream_order.h"

#include <algorithm>

namespace vcuda {
namespace {

std::uint64_t in(const std::map<Stream, std::uint64_t>& clocks, Stream stream) {
  const auto found = clocks.find(stream);
  return found == clocks.end() ? 0 : found->second;
}

}  // namespace

void StreamOrder::merge(Clocks& into, const Clocks& from) {
  for (const auto& [stream, clock] : from) into[stream] = std::max(into[stream], clock);
}

std::uint64_t StreamOrder::add(Stream stream) {
  // What the host has waited for comes before all that it starts from now on, but not before what runs already.
  merge(known_[stream], host_);
  return ++own_[stream];
}

Event StreamOrder::record(Stream stream) {
  Clocks now = known_[stream];
  merge(now, host_);
  now[stream] = in(own_, stream);
  events_.push_back(std::move(now));
  return events_.size();
}

void StreamOrder::wait(Stream stream, Event event) {
  if (event != 0 && event <= events_.size()) merge(known_[stream], events_[event - 1]);
}

void StreamOrder::wait_on_host() { merge(host_, own_); }

}  // namespace vcuda
