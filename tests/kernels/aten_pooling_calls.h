// Short calls of pools, bags, repeats and segments on the virtual device, and what they print.
#pragma once

#include <functional>

#include "tests/kernels/aten_fixture.h"

using at::Tensor;

constexpr std::int64_t kWrap = std::int64_t{1} << 32;

inline Tensor on_device(const Tensor& tensor) { return tensor.to(vcuda_device()); }
inline Tensor ids(std::vector<std::int64_t> values, at::ScalarType type = at::kLong) {
  return on_device(longs(std::move(values), type));
}
inline Tensor ids(std::vector<std::int64_t> values, at::IntArrayRef shape) {
  return ids(std::move(values)).reshape(shape);
}
inline Tensor ones(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) { return on_device(at::ones(sizes, type)); }

enum Mode : std::int64_t { kSum = 0, kMean = 1, kMax = 2 };

inline Tensor bag(const Tensor& indices, const Tensor& offsets, const Tensor& weight, Mode mode,
                  const Tensor& sample_weights = {}, bool last = false) {
  const auto samples = sample_weights.defined() ? std::optional<Tensor>(sample_weights) : std::nullopt;
  return std::get<0>(at::embedding_bag(weight, indices, offsets, false, mode, false, samples, last));
}

inline Tensor segments(const Tensor& data, const char* reduce, const Tensor& lengths, std::int64_t axis = 0) {
  return at::segment_reduce(data, reduce, lengths, {}, {}, axis, /*unsafe=*/true);
}

// The overload of indices; with a number as the second argument another one would be taken.
inline Tensor repeat(const Tensor& repeats, std::optional<std::int64_t> output_size = std::nullopt) {
  return at::repeat_interleave(repeats, output_size);
}

inline Tensor table() { return ones({4, 4}); }
inline Tensor four() { return ids({0, 1, 2, 3}); }

class PoolingTest : public AtenTest {
 protected:
  // What the call prints; the device's error is left for synchronize().
  static std::string run(const std::function<void()>& call) {
    vcuda::reset_contexts();
    return printed_by([&] {
      try {
        call();
      } catch (const c10::AcceleratorError&) {
        // The operator went on to another call, which found the error.
      }
    });
  }
};
