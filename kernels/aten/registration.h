// What registrations of kernels share: an operator's own shape function, element types, and device checks.
// A new kernel is one .cu file and one file like nll_loss.cpp that includes this.
#pragma once

#include <ATen/ATen.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/op_registration/adaption.h>
#include <ATen/native/Resize.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "kernels/aten/backend.h"
#include "kernels/vcuda/dtype.h"

namespace vcuda::aten {

// Runs `Meta`, the shape function of a structured operator: it makes all the checks that the CUDA operator makes on
// the host, in the same words, and then sizes the outputs. Undefined outputs are created.
template <typename Meta>
struct Outputs final : Meta {
  std::array<at::Tensor, 2> out;

  Outputs() = default;
  explicit Outputs(const at::Tensor& first, const at::Tensor& second = {}) : out{first, second} {}

  const at::Tensor& maybe_get_output(int64_t i) override { return out[static_cast<std::size_t>(i)]; }
  void set_output_strided(int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options,
                          at::DimnameList names) override {
    set_output_raw_strided(i, sizes, strides, options, names);
  }
  void set_output_raw_strided(int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options,
                              at::DimnameList names) override {
    at::Tensor& output = out[static_cast<std::size_t>(i)];
    if (!output.defined()) {
      output = strides.empty() ? at::empty(sizes, options) : at::empty_strided(sizes, strides, options);
    } else {
      TORCH_CHECK(options.dtype() == output.dtype(), "Expected out tensor to have dtype ", options.dtype(),
                  ", but got ", output.dtype(), " instead");
      at::native::resize_output(output, sizes);
    }
    if constexpr (std::is_base_of_v<at::TensorIteratorBase, Meta>) {
      Meta::set_output_raw_strided(i, sizes, strides, options, names);
    }
  }
};

// Throws NotImplementedError as AT_DISPATCH does under the name of the CUDA kernel.
[[noreturn]] inline void throw_no_kernel(const char* kernel, at::ScalarType type) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, '"', kernel, "\" not implemented for '", c10::toString(type), "'");
}

// The floating types that losses have kernels for.
inline DType floating_dtype(at::ScalarType type, const char* kernel) {
  if (type == at::kHalf) return DType::f16;
  if (type == at::kBFloat16) return DType::bf16;
  if (type == at::kFloat) return DType::f32;
  if (type == at::kDouble) return DType::f64;
  throw_no_kernel(kernel, type);
}

// As Tensor::data_ptr<T>() does: kernels that get one type for several tensors expect it of all.
inline void expect_type(const at::Tensor& tensor, at::ScalarType type) {
  TORCH_CHECK(!tensor.defined() || tensor.scalar_type() == type, "expected scalar type ", type, " but found ",
              tensor.scalar_type());
}

struct Named {
  const at::Tensor& tensor;
  const char* name;
};

// Refuses tensors that are not all on one device, as the wrapper of the CUDA operator does.
inline void expect_one_device(const char* wrapper, std::initializer_list<Named> arguments) {
  std::optional<at::Device> common;
  for (const Named& argument : arguments) {
    c10::impl::check_and_update_common_device(common, argument.tensor, wrapper, argument.name);
  }
}

inline void expect_dims(std::size_t dims) {
  TORCH_CHECK(dims <= std::size_t{kMaxDims}, "dsafuzz's kernels take at most ", kMaxDims, " dimensions");
}

// An iterator over an output, an input and an index tensor of one shape; dimensions that can be joined are.
inline at::TensorIterator iterator_over(const at::Tensor& to, const at::Tensor& from, const at::Tensor& index) {
  return at::TensorIteratorConfig()
      .set_check_mem_overlap(false)
      .check_all_same_dtype(false)
      .resize_outputs(false)
      .add_output(to)
      .add_const_input(from)
      .add_const_input(index)
      .build();
}

// One walk over the operands of an iterator, at most N, in the order that CUDA's kernels take.
template <int N = 3>
Walk<N> walk_of(const at::TensorIteratorBase& iterator) {
  expect_dims(static_cast<std::size_t>(iterator.ndim()));
  Walk<N> walk;
  walk.dims = iterator.ndim();
  for (int dim = 0; dim < walk.dims; ++dim) {
    walk.sizes[dim] = iterator.shape()[dim];
    for (int operand = 0; operand < std::min(N, iterator.ntensors()); ++operand) {
      walk.strides[operand][dim] = iterator.strides(operand)[dim];
    }
  }
  return walk;
}

}  // namespace vcuda::aten
