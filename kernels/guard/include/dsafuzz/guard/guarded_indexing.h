// Indexing, checked and then computed: use it in place of ATen's. Each returns what ATen's function of the same name
// returns; switched off, it is that function.
#pragma once

#include <ATen/ATen.h>
#include <dsafuzz/guard/check_inputs.h>
#include <dsafuzz/guard/check_values.h>

#include <cstdint>

namespace dsafuzz::guard {

namespace detail {

// Integers on the tensor's device that are positions in `size`.
inline void check_positions(const char* call, const char* argument, const at::Tensor& tensor, const at::Tensor& index,
                            std::int64_t size, bool negative) {
  check_defined(tensor, {call, "input"});
  check_defined(index, {call, argument});
  check_dtype(index, {at::kLong, at::kInt}, {call, argument});
  check_same_device(index, tensor, {call, argument});
  check_indices(index, size, negative, {call, argument});
}

inline std::int64_t axis_size(const char* call, const at::Tensor& tensor, std::int64_t dim) {
  check_defined(tensor, {call, "input"});
  return tensor.dim() == 0 ? 1 : tensor.size(dim);  // size() refuses an axis that is not there
}

// gather and scatter: as many axes, and along the others no more than the tensor has.
inline void check_same_axes(const char* call, const at::Tensor& tensor, const at::Tensor& index, std::int64_t dim) {
  if (tensor.dim() == 0 || index.dim() == 0 || index.numel() == 0) return;
  bool fits = tensor.dim() == index.dim();
  const std::int64_t along = dim < 0 ? dim + tensor.dim() : dim;
  for (std::int64_t axis = 0; fits && axis < tensor.dim(); ++axis) {
    fits = axis == along || index.size(axis) <= tensor.size(axis);
  }
  if (fits) return;
  fail_whole("shape", {call, "index"}, shape_text(index.sizes()),
             "at most " + shape_text(tensor.sizes()) + " outside of axis " + std::to_string(along));
}

}  // namespace detail

// Rows of a table; indices count from 0. padding_idx: as of ATen.
inline at::Tensor embedding(const at::Tensor& weight, const at::Tensor& indices, std::int64_t padding_idx = -1) {
  if (enabled()) {
    detail::check_positions("embedding", "indices", weight, indices, detail::axis_size("embedding", weight, 0), false);
  }
  return at::embedding(weight, indices, padding_idx);
}

inline at::Tensor index_select(const at::Tensor& input, std::int64_t dim, const at::Tensor& index) {
  if (enabled()) {
    detail::check_positions("index_select", "index", input, index, detail::axis_size("index_select", input, dim),
                            false);
  }
  return at::index_select(input, dim, index);
}

inline at::Tensor index_add(const at::Tensor& input, std::int64_t dim, const at::Tensor& index,
                            const at::Tensor& source) {
  if (enabled()) {
    detail::check_positions("index_add", "index", input, index, detail::axis_size("index_add", input, dim), false);
    check_same_device(source, input, {"index_add", "source"});
  }
  return at::index_add(input, dim, index, source);
}

inline at::Tensor gather(const at::Tensor& input, std::int64_t dim, const at::Tensor& index) {
  if (enabled()) {
    detail::check_positions("gather", "index", input, index, detail::axis_size("gather", input, dim), false);
    detail::check_same_axes("gather", input, index, dim);
  }
  return at::gather(input, dim, index);
}

inline at::Tensor scatter(const at::Tensor& input, std::int64_t dim, const at::Tensor& index, const at::Tensor& src) {
  if (enabled()) {
    detail::check_positions("scatter", "index", input, index, detail::axis_size("scatter", input, dim), false);
    detail::check_same_axes("scatter", input, index, dim);
    check_same_device(src, input, {"scatter", "src"});
  }
  return at::scatter(input, dim, index, src);
}

// Positions in the flattened input; negative ones count from the end.
inline at::Tensor take(const at::Tensor& input, const at::Tensor& index) {
  if (enabled()) {
    check_defined(input, {"take", "input"});
    detail::check_positions("take", "index", input, index, input.numel(), true);
  }
  return at::take(input, index);
}

}  // namespace dsafuzz::guard
