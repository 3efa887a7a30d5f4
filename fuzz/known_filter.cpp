#include "fuzz/known_filter.h"

#include <algorithm>

namespace dsafuzz {

KnownFilter::Key KnownFilter::key_of(const Case& c, const IllegalValue& value) {
  const TensorSpec* tensor = c.find_tensor(value.tensor);
  return {value.tensor, value.value_class, tensor ? tensor->dtype : Dtype::float32, c.phase, c.precision};
}

void KnownFilter::learn(const Case& c, std::span<const IllegalValue> values) {
  // With several classes in one case it is not known which of them did it.
  if (values.size() == 1) known_.insert(key_of(c, values.front()));
}

bool KnownFilter::leaves_out(const Case& c, std::span<const IllegalValue> values) {
  if (every_ == 1 || values.empty()) return false;
  if (!std::ranges::all_of(values, [&](const IllegalValue& v) { return known_.contains(key_of(c, v)); })) return false;
  return met_++ % every_ != 0;
}

std::uint64_t usual_known_every(Device::Kind kind) {
  switch (kind) {
    case Device::Kind::cuda: return 64;
    case Device::Kind::cpu:
    case Device::Kind::vcuda: return 4;
  }
  return 1;
}

}  // namespace dsafuzz
