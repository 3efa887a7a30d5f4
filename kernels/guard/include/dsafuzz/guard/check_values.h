// The values of one tensor against what is legal. On the passing path: one reduction where the tensor lies, and one
// transfer of its two results, which waits for the device. Only a tensor that fails is copied and searched.
//
// A tensor without elements, and one whose elements cannot be read (sparse, meta, quantised, complex), passes
// unchecked.
#pragma once

#include <ATen/ATen.h>
#include <dsafuzz/guard/legal.h>
#include <dsafuzz/guard/switch.h>
#include <dsafuzz/guard/violation.h>
#include <dsafuzz/guard_counters.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace dsafuzz::guard {

// Which argument a check speaks of.
struct Where {
  std::string call, argument;
};

// Counts it and throws.
[[noreturn]] inline void fail(Violation violation) {
  counters().violated(violation.call, violation.argument, violation.check, violation.count);
  throw ViolationError(std::move(violation));
}

namespace detail {

inline bool is_readable(const at::Tensor& tensor) {
  return tensor.defined() && tensor.numel() > 0 && tensor.layout() == at::kStrided && !tensor.is_meta() &&
         !tensor.is_quantized() && !tensor.is_complex();
}

// One synchronising transfer. Integers come as int64 and are exact; a NaN makes both ends NaN.
struct Extremes {
  bool real = false;
  std::int64_t least = 0, greatest = 0;
  double real_least = 0, real_greatest = 0;
};

// Of the elements that are not `leave_out`, for which `instead` stands in. Requires: is_readable(tensor).
inline Extremes extremes_of(const at::Tensor& tensor, std::optional<std::int64_t> leave_out, std::int64_t instead) {
  at::Tensor values = tensor.detach();
  if (values.scalar_type() == at::kBool) values = values.to(at::kByte);
  if (leave_out) values = values.masked_fill(values.eq(*leave_out), instead);
  const auto [least, greatest] = at::aminmax(values);
  const at::Tensor both = at::stack({least, greatest}).cpu();
  Extremes out;
  out.real = both.is_floating_point();
  if (out.real) {
    const at::Tensor doubles = both.to(at::kDouble);
    out.real_least = doubles.data_ptr<double>()[0];
    out.real_greatest = doubles.data_ptr<double>()[1];
  } else {
    const at::Tensor longs = both.to(at::kLong);
    out.least = longs.data_ptr<std::int64_t>()[0];
    out.greatest = longs.data_ptr<std::int64_t>()[1];
    out.real_least = static_cast<double>(out.least);
    out.real_greatest = static_cast<double>(out.greatest);
  }
  return out;
}

// Whether an integer tensor of this dtype can hold the value.
inline bool fits(at::ScalarType dtype, std::int64_t value) {
  switch (dtype) {
    case at::kBool: return value == 0 || value == 1;
    case at::kByte: return value >= 0 && value <= 0xFF;
    case at::kChar: return value >= INT8_MIN && value <= INT8_MAX;
    case at::kShort: return value >= INT16_MIN && value <= INT16_MAX;
    case at::kInt: return value >= INT32_MIN && value <= INT32_MAX;
    default: return true;
  }
}

// Where the tensor breaks the rule first, in row-major order, and how often; nothing if it does not.
inline std::optional<Violation> violation_of(const at::Tensor& tensor, const Legal& legal, const Where& where) {
  const at::Tensor values = tensor.detach().cpu();
  at::Tensor bad;
  if (legal.real) {
    const at::Tensor doubles = values.to(at::kDouble);
    bad = doubles.ge(legal.least).logical_and(doubles.le(legal.most)).logical_not();  // NaN is neither
  } else {
    const at::Tensor longs = values.to(at::kLong);
    bad = longs.lt(legal.from).logical_or(longs.ge(legal.below));
    if (legal.also) bad = bad.logical_and(longs.ne(*legal.also));
  }
  const at::Tensor found = bad.nonzero();
  if (found.size(0) == 0) return std::nullopt;
  Violation violation;
  violation.check = legal.check;
  violation.call = where.call;
  violation.argument = where.argument;
  violation.has_position = true;
  violation.count = found.size(0);
  violation.elements = values.numel();
  violation.legal = legal.text();
  at::Tensor element = values;
  for (std::int64_t axis = 0; axis < values.dim(); ++axis) {
    const auto i = found[0][axis].item<std::int64_t>();
    violation.position.push_back(i);
    element = element.select(0, i);
  }
  violation.value = element.is_floating_point() ? Legal::short_text(element.item<double>())
                                                : std::to_string(element.item<std::int64_t>());
  return violation;
}

}  // namespace detail

// Throws ViolationError unless every element is legal. A rule for integers needs a tensor of integers.
inline void check_values(const at::Tensor& tensor, const Legal& legal, const Where& where) {
  if (!enabled() || !detail::is_readable(tensor)) return;
  if (!legal.real && tensor.is_floating_point()) {
    Violation violation;
    violation.check = "dtype";
    violation.call = where.call;
    violation.argument = where.argument;
    violation.value = c10::toString(tensor.scalar_type());
    violation.legal = "an integer one";
    fail(std::move(violation));
  }
  // Left out only where it makes a difference.
  std::optional<std::int64_t> also = legal.also;
  if (also && (legal.inside(*also) || !detail::fits(tensor.scalar_type(), *also))) also.reset();
  const detail::Extremes seen = detail::extremes_of(tensor, also, legal.from);
  counters().saw(where.call, where.argument, seen.real_least, seen.real_greatest);
  const bool inside = seen.real ? legal.inside(seen.real_least) && legal.inside(seen.real_greatest)
                                : legal.inside(seen.least) && legal.inside(seen.greatest);
  if (inside) return;
  if (auto violation = detail::violation_of(tensor, legal, where)) fail(*std::move(violation));
}

// Class indices: [0, classes), or ignore_index.
inline void check_labels(const at::Tensor& labels, std::int64_t classes,
                         std::optional<std::int64_t> ignore_index = std::nullopt,
                         const Where& where = {"check_labels", "labels"}) {
  check_values(labels, Legal::labels(classes, ignore_index), where);
}

// Positions in an axis of `size`: [0, size), or with `negative` [-size, size).
inline void check_indices(const at::Tensor& index, std::int64_t size, bool negative = false,
                          const Where& where = {"check_indices", "index"}) {
  check_values(index, Legal::indices(size, negative), where);
}

// [0, 1]; NaN is not.
inline void check_probabilities(const at::Tensor& tensor, const Where& where = {"check_probabilities", "input"}) {
  check_values(tensor, Legal::probabilities(), where);
}

// Neither NaN nor infinite. A tensor of integers always is.
inline void check_finite(const at::Tensor& tensor, const Where& where = {"check_finite", "input"}) {
  check_values(tensor, Legal::finite(), where);
}

// Only records the range of a tensor in the counters: the output of a layer, say. Refuses nothing.
inline void watch(const at::Tensor& tensor, const Where& where) {
  if (!enabled() || !detail::is_readable(tensor)) return;
  const detail::Extremes seen = detail::extremes_of(tensor, std::nullopt, 0);
  counters().saw(where.call, where.argument, seen.real_least, seen.real_greatest);
}

}  // namespace dsafuzz::guard
