// Operators that write by a list of indices on the virtual device: index_fill, index_copy, index_add and index_reduce
// along a dimension; take, put and masked_scatter over all elements. Where LibTorch's own function makes the host's
// checks and then calls a stub of the device, only the stub is ours.
#include "kernels/indexing/index_slices.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/CanUse32BitIndexMath.h>
#include <ATen/native/IndexKernel.h>
#include <ATen/ops/index_add_meta.h>
#include <ATen/ops/index_copy_native.h>
#include <ATen/ops/index_fill_native.h>
#include <ATen/ops/index_reduce_meta.h>
#include <ATen/ops/put_native.h>
#include <ATen/ops/take_native.h>
#include <torch/library.h>

#include "kernels/aten/gather_scatter.h"
#include "kernels/aten/registration.h"
#include "kernels/indexing/index_reduce.h"
#include "kernels/indexing/masked_scatter.h"
#include "kernels/indexing/take_put.h"

namespace vcuda::aten {
namespace {

using at::Tensor;

Walk<1> row_major_walk(at::IntArrayRef sizes, at::IntArrayRef strides, int64_t item) {
  expect_dims(sizes.size());
  Walk<1> walk;
  for (std::size_t d = sizes.size(); d-- > 0; ++walk.dims) {
    walk.sizes[walk.dims] = sizes[d];
    walk.strides[0][walk.dims] = strides[d] * item;
  }
  return walk;
}

// The iterator goes over self, with stride zero along the indexed dimension, the index and the source if there is one.
kernels::IndexSlices slices_of(at::TensorIterator& iterator, int64_t size, int64_t stride) {
  kernels::IndexSlices args;
  args.element_bytes = static_cast<int>(iterator.element_size(0));
  args.self = iterator.data_ptr(0);
  args.index = iterator.data_ptr(1);
  if (iterator.ntensors() > 2) args.source = iterator.data_ptr(2);
  args.count = iterator.numel();
  args.size = size;
  args.stride = stride * static_cast<int64_t>(iterator.element_size(0));
  args.walk = walk_of(iterator);
  return args;
}

void fill_slices(at::TensorIterator& iterator, int64_t, int64_t size, int64_t stride, const at::Scalar& value) {
  if (iterator.numel() == 0) return;
  kernels::index_fill(slices_of(iterator, size, stride), value_of(value, iterator.dtype(0)),
                      stream_for(iterator.tensor(0)));
  check_after_launch();
}

void copy_slices(at::TensorIterator& iterator, int64_t, int64_t size, int64_t stride) {
  if (iterator.numel() == 0) return;
  kernels::index_copy(slices_of(iterator, size, stride), stream_for(iterator.tensor(0)));
  check_after_launch();
}

Tensor& index_fill(Tensor& self, int64_t dim, const Tensor& index, const at::Scalar& value) {
  const c10::DeviceGuard guard(self.device());
  check_pending();
  return at::native::index_fill_(self, dim, index, value);
}

Tensor& index_fill_tensor(Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  const c10::DeviceGuard guard(self.device());
  check_pending();
  return at::native::index_fill_(self, dim, index, value);
}

Tensor& index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Tensor& out) {
  expect_one_device("wrapper_CUDA_index_copy", {{self, "self"}, {index, "index"}, {source, "source"}});
  const c10::DeviceGuard guard(self.device());
  Outputs<at::native::structured_index_copy_out> op(out);
  op.meta(self, dim, index, source);
  check_pending();
  op.impl(self, at::maybe_wrap_dim(dim, self.dim()), index, source, out);
  return out;
}

// CUDA walks the source along whichever of slice and index lies closer together in memory.
bool index_is_major(const Tensor& self, int64_t dim) {
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != dim && self.size(d) > 1 && self.stride(d) < self.stride(dim)) return true;
  }
  return false;
}

void launch_index_reduce(const Tensor& to, int64_t dim, const Tensor& index, const Tensor& from, DType dtype,
                         kernels::Reduction reduction) {
  const Tensor self = with_dimensions(to);
  const Tensor source = with_dimensions(from);
  const auto item = static_cast<int64_t>(self.element_size());
  kernels::IndexReduce args;
  args.dtype = dtype;
  args.reduction = reduction;
  args.self = self.mutable_data_ptr();
  args.source = source.const_data_ptr();
  args.index = index.const_data_ptr();
  args.wide_index = index.scalar_type() == at::kLong;
  args.narrow = at::native::canUse32BitIndexMath(self) && at::native::canUse32BitIndexMath(source) &&
                at::native::canUse32BitIndexMath(index);
  args.index_major = index_is_major(self, dim);
  args.count = index.numel();
  args.index_stride = index.dim() == 0 ? 1 : index.stride(0);
  args.self_size = self.size(dim);
  args.self_stride = self.stride(dim) * item;
  args.source_stride = source.stride(dim) * item;
  args.slice_elements = 1;
  expect_dims(static_cast<std::size_t>(self.dim()));
  for (int64_t d = self.dim() - 1; d >= 0; --d) {
    if (d == dim) continue;
    args.slice.sizes[args.slice.dims] = self.size(d);
    args.slice.strides[0][args.slice.dims] = self.stride(d) * item;
    args.slice.strides[1][args.slice.dims] = source.stride(d) * item;
    ++args.slice.dims;
    args.slice_elements *= self.size(d);
  }
  if (args.slice_elements == 0 || args.count == 0) return;
  kernels::index_reduce(args, stream_for(self));
  check_after_launch();
}

Tensor& index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const at::Scalar& alpha,
                  Tensor& out) {
  expect_one_device("wrapper_CUDA_index_add", {{self, "self"}, {index, "index"}, {source, "source"}});
  const c10::DeviceGuard guard(self.device());
  Outputs<at::meta::structured_index_add> op(out);
  op.meta(self, dim, index, source, alpha);
  check_pending();
  if (!out.is_same(self)) out.copy_(self);
  dim = at::maybe_wrap_dim(dim, self.dim());
  const bool scales = alpha.to<c10::complex<double>>() != 1.0;
  const Tensor from = scales ? source.mul(alpha).to(source.scalar_type()) : source;
  if (at::globalContext().deterministicAlgorithms()) {
    c10::List<std::optional<Tensor>> indices;
    for (int64_t d = 0; d < dim; ++d) indices.emplace_back(std::nullopt);
    indices.emplace_back(index.to(at::kLong));
    const Tensor to = with_dimensions(out);
    to.index_put_(indices, with_dimensions(from), /*accumulate=*/true);
    return out;
  }
  if (at::isComplexType(out.scalar_type())) {
    const Tensor parts = at::view_as_real(with_dimensions(out));
    launch_index_reduce(parts, dim, index, at::view_as_real(with_dimensions(from.resolve_conj())),
                        dtype_of(parts, "index_add_cuda_"), kernels::Reduction::add);
  } else {
    launch_index_reduce(out, dim, index, from, dtype_of(out, "index_add_cuda_"), kernels::Reduction::add);
  }
  return out;
}

Tensor& index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                     c10::string_view reduce, bool include_self, Tensor& out) {
  expect_one_device("wrapper_CUDA_index_reduce", {{self, "self"}, {index, "index"}, {source, "source"}});
  const c10::DeviceGuard guard(self.device());
  Outputs<at::meta::structured_index_reduce> op(out);
  op.meta(self, dim, index, source, reduce, include_self);
  check_pending();
  if (!out.is_same(self)) out.copy_(self);
  if (out.scalar_type() == at::kBool) throw_no_kernel("index_reduce_func_cuda_impl", at::kBool);
  const DType dtype = dtype_of(out, "index_reduce_func_cuda_impl");
  dim = at::maybe_wrap_dim(dim, self.dim());
  const auto type = at::native::get_reduction_enum(reduce);
  const Operation operation = operation_of(type, out.scalar_type());
  if (!include_self) out.index_fill_(dim, index.to(at::kLong), operation.neutral);
  launch_index_reduce(out, dim, index, source, dtype, operation.reduction);
  if (type == at::native::ReductionType::MEAN) {
    Tensor count = include_self ? at::ones_like(out) : at::zeros_like(out);
    count.index_add_(dim, index, at::ones_like(source));
    divide_by_count(out, count);
  }
  return out;
}

// The iterator goes over the result or the source, and the index.
kernels::TakePut take_put_of(at::TensorIterator& iterator, const at::TensorBase& indexed) {
  const auto item = static_cast<int64_t>(indexed.element_size());
  kernels::TakePut args;
  args.element_bytes = static_cast<int>(item);
  args.indexed = const_cast<void*>(indexed.const_data_ptr());
  args.numel = indexed.numel();
  args.indexed_walk = row_major_walk(indexed.sizes(), indexed.strides(), item);
  args.count = iterator.numel();
  args.iterated = iterator.data_ptr(0);
  args.index = iterator.data_ptr(1);
  args.walk = walk_of<2>(iterator);
  return args;
}

void take_elements(at::TensorIterator& iterator, const at::TensorBase& self) {
  if (iterator.numel() == 0) return;
  kernels::take(take_put_of(iterator, self), stream_for(iterator.tensor(0)));
  check_after_launch();
}

void put_elements(at::TensorIterator& iterator, const at::TensorBase& self, const bool accumulate) {
  if (iterator.numel() == 0) return;
  const kernels::TakePut args = take_put_of(iterator, self);
  const Stream stream = stream_for(iterator.tensor(0));
  if (!accumulate) {
    kernels::put(args, stream);
  } else {
    const bool complex = at::isComplexType(self.scalar_type());
    const Tensor number = at::empty({0}, at::TensorOptions(c10::toRealValueType(self.scalar_type())));
    kernels::put_accumulate(args, dtype_of(number, "put_cuda"), complex ? 2 : 1, stream);
  }
  check_after_launch();
}

Tensor& take_out(const Tensor& self, const Tensor& index, Tensor& out) {
  expect_one_device("wrapper_CUDA_out_take_out", {{out, "out"}, {self, "self"}, {index, "index"}});
  const c10::DeviceGuard guard(self.device());
  check_pending();
  return at::native::take_out(self, index, out);
}

Tensor take(const Tensor& self, const Tensor& index) {
  expect_one_device("wrapper_CUDA__take", {{self, "self"}, {index, "index"}});
  const c10::DeviceGuard guard(self.device());
  check_pending();
  return at::native::take(self, index);
}

Tensor& put(Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  expect_one_device("wrapper_CUDA__put_", {{self, "self"}, {index, "index"}, {source, "source"}});
  const c10::DeviceGuard guard(self.device());
  check_pending();
  return at::native::put_(self, index, source, accumulate);
}

Tensor& masked_scatter(Tensor& self, const Tensor& mask, const Tensor& source) {
  expect_one_device("wrapper_CUDA__masked_scatter_", {{self, "self"}, {mask, "mask"}, {source, "source"}});
  const c10::DeviceGuard guard(self.device());
  check_pending();
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(self.scalar_type() == source.scalar_type(),
              "masked_scatter_: expected self and source to have same dtypes but got ", self.scalar_type(), " and ",
              source.scalar_type());
  TORCH_CHECK(mask.scalar_type() == at::kBool, "masked_scatter_ only supports boolean masks, but got mask with dtype ",
              mask.dtype());
  const auto expanded = at::expand_inplace(self, mask, "masked_scatter_");
  if (self.numel() == 0) return self;
  const Tensor marks = expanded->contiguous();
  const Tensor from = source.contiguous();
  const Tensor ordinal = at::empty(self.sizes(), marks.options().dtype(at::kLong));
  kernels::MaskedScatter args;
  args.element_bytes = static_cast<int>(self.element_size());
  args.self = self.mutable_data_ptr();
  args.mask = static_cast<const bool*>(marks.const_data_ptr());
  args.ordinal = static_cast<int64_t*>(ordinal.mutable_data_ptr());
  args.source = from.const_data_ptr();
  args.count = self.numel();
  args.source_size = from.numel();
  args.self_walk = row_major_walk(self.sizes(), self.strides(), static_cast<int64_t>(self.element_size()));
  kernels::masked_scatter(args, stream_for(self));
  check_after_launch();
  return self;
}

}  // namespace
}  // namespace vcuda::aten

namespace at::native {
DSAFUZZ_STUB(index_fill_stub, &vcuda::aten::fill_slices)
DSAFUZZ_STUB(index_copy_stub, &vcuda::aten::copy_slices)
DSAFUZZ_STUB(take_stub, &vcuda::aten::take_elements)
DSAFUZZ_STUB(put_stub, &vcuda::aten::put_elements)
}  // namespace at::native

namespace vcuda::aten {

// The functional and in-place forms come with LibTorch: they call these.
DSAFUZZ_OPERATORS(dense, m) {
  m.impl("index_fill_.int_Scalar", &index_fill);
  m.impl("index_fill_.int_Tensor", &index_fill_tensor);
  m.impl("index_copy.out", &index_copy);
  m.impl("index_add.out", &index_add);
  m.impl("index_reduce.out", &index_reduce);
  m.impl("take", &take);
  m.impl("take.out", &take_out);
  m.impl("put_", &put);
  m.impl("masked_scatter_", &masked_scatter);
}

}  // namespace vcuda::aten
