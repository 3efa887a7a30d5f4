#include "scenarios/operator_features.h"

#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include <bit>

#include "kernels/vcuda/coverage.h"

namespace dsafuzz {
namespace {

std::span<std::uint8_t> feature_map;

std::uint64_t combine(std::uint64_t hash, std::uint64_t value) { return (hash ^ value) * 0x9e3779b97f4a7c15ull; }

// Sizes by kind, not by number: 0, 1, 2, then powers of two; so a new size class is news and a new size is not.
std::uint64_t size_class(std::int64_t size) {
  return size < 3 ? static_cast<std::uint64_t>(size) : 2 + std::bit_width(static_cast<std::uint64_t>(size));
}

std::unique_ptr<at::ObserverContext> observe(const at::RecordFunction& call) {
  if (feature_map.empty()) return nullptr;
  std::uint64_t hash = std::hash<std::string_view>{}(call.name());
  for (const c10::IValue& input : call.inputs()) {
    if (!input.isTensor()) continue;
    const at::Tensor& t = input.toTensor();
    if (!t.defined()) continue;
    hash = combine(hash, static_cast<std::uint64_t>(t.scalar_type()) * 16 + static_cast<std::uint64_t>(t.dim()));
    for (const std::int64_t size : t.sizes()) hash = combine(hash, size_class(size));
    // A sparse tensor throws when asked for strides.
    hash = combine(hash, t.layout() == at::kStrided && t.is_contiguous());
  }
  hash ^= hash >> 29;
  std::uint8_t& counter = feature_map[hash & (feature_map.size() - 1)];
  if (counter != 255) ++counter;
  return nullptr;
}

}  // namespace

void observe_operators() {
  at::addGlobalCallback(at::RecordFunctionCallback(observe).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
}

void set_feature_map(std::span<std::uint8_t> map) {
  feature_map = map;
  vcuda::set_coverage_map(map);
}

}  // namespace dsafuzz
