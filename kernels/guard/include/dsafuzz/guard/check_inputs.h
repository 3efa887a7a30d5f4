// What an argument is, as a whole: dtype, device and shape. Costs no transfer. Each throws ViolationError.
#pragma once

#include <ATen/ATen.h>
#include <dsafuzz/guard/check_values.h>

#include <initializer_list>
#include <string>

namespace dsafuzz::guard {

namespace detail {

[[noreturn]] inline void fail_whole(const char* check, const Where& where, std::string value, std::string legal) {
  Violation violation;
  violation.check = check;
  violation.call = where.call;
  violation.argument = where.argument;
  violation.value = std::move(value);
  violation.legal = std::move(legal);
  fail(std::move(violation));
}

inline std::string shape_text(at::IntArrayRef shape) {
  std::string out = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

}  // namespace detail

inline void check_defined(const at::Tensor& tensor, const Where& where) {
  if (enabled() && !tensor.defined()) detail::fail_whole("shape", where, "undefined", "that of a tensor");
}

inline void check_dtype(const at::Tensor& tensor, std::initializer_list<at::ScalarType> legal, const Where& where) {
  if (!enabled()) return;
  std::string words;
  for (const at::ScalarType dtype : legal) {
    if (tensor.scalar_type() == dtype) return;
    words += (words.empty() ? "" : " or ") + std::string(c10::toString(dtype));
  }
  detail::fail_whole("dtype", where, c10::toString(tensor.scalar_type()), words);
}

inline void check_floating(const at::Tensor& tensor, const Where& where) {
  if (!enabled() || tensor.is_floating_point()) return;
  detail::fail_whole("dtype", where, c10::toString(tensor.scalar_type()), "a floating one");
}

// An undefined tensor, as an optional weight may be, lies anywhere.
inline void check_same_device(const at::Tensor& tensor, const at::Tensor& other, const Where& where) {
  if (!enabled() || !tensor.defined() || tensor.device() == other.device()) return;
  detail::fail_whole("device", where, tensor.device().str(), other.device().str() + ", as of the input");
}

inline void check_shape(const at::Tensor& tensor, at::IntArrayRef legal, const Where& where) {
  if (!enabled() || tensor.sizes() == legal) return;
  detail::fail_whole("shape", where, detail::shape_text(tensor.sizes()), detail::shape_text(legal));
}

// Of class indices: () for an input of (C), else (N, d1...) for (N, C, d1...).
inline void check_label_shape(const at::Tensor& input, const at::Tensor& target, const Where& where) {
  if (!enabled()) return;
  if (input.dim() == 0) {
    detail::fail_whole("shape", {where.call, "input"}, "[]", "[C] or [N, C, ...]");
  }
  std::vector<std::int64_t> legal = input.sizes().vec();
  legal.erase(legal.begin() + (input.dim() == 1 ? 0 : 1));
  check_shape(target, legal, where);
}

// The number of classes of such an input. Requires: it is no scalar.
inline std::int64_t classes_of(const at::Tensor& input) { return input.size(input.dim() == 1 ? 0 : 1); }

}  // namespace dsafuzz::guard
