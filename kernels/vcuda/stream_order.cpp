// See stream_order.h.
#include "kernels/vcuda/stream_order.h"

#include <algorithm>

namespace vcuda {
namespace {

void merge(std::map<Stream, std::uint64_t>& into, const std::map<Stream, std::uint64_t>& from) {
  for (const auto& [stream, number] : from) into[stream] = std::max(into[stream], number);
}

}  // namespace

bool KnownWork::holds(Stream stream, std::uint64_t number) const {
  if (number <= host) return true;
  const auto found = streams.find(stream);
  return found != streams.end() && number <= found->second;
}

std::uint64_t StreamOrder::add(Stream stream) { return own_[stream] = ++added_; }

KnownWork StreamOrder::known(Stream stream) const {
  const auto found = known_.find(stream);
  return {host_, found == known_.end() ? Clocks() : found->second};
}

Event StreamOrder::record(Stream stream) {
  Clocks now = known(stream).streams;
  if (const auto own = own_.find(stream); own != own_.end()) now[stream] = own->second;
  events_.push_back(std::move(now));
  return first_event_ + events_.size() - 1;
}

void StreamOrder::wait(Stream stream, Event event) {
  // What earlier events order, the host has waited for.
  if (event < first_event_ || event - first_event_ >= events_.size()) return;
  merge(known_[stream], events_[event - first_event_]);
}

void StreamOrder::wait_on_host() {
  if (host_ == added_ && events_.empty()) return;
  host_ = added_;
  own_.clear();
  known_.clear();
  first_event_ += events_.size();
  events_.clear();
}

}  // namespace vcuda
