// scatter in all its forms, and the launch of gather, on the virtual device.
#include "kernels/aten/gather_scatter.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/ReductionType.h>
#include <ATen/ops/scatter_add_meta.h>
#include <ATen/ops/scatter_meta.h>
#include <ATen/ops/scatter_reduce_meta.h>
#include <torch/library.h>

#include <cstring>
#include <limits>

namespace vcuda::aten {

using at::Tensor;

bool copies_rows(const at::TensorIteratorBase& iterator, int64_t source_stride_bytes) {
  if (iterator.ndim() != 2) return false;
  const auto item = static_cast<int64_t>(iterator.element_size(0));
  const auto aligned = [](int64_t value) { return value % kernels::kVectorBytes == 0; };
  const auto aligned_pointer = [&](const void* pointer) { return aligned(reinterpret_cast<intptr_t>(pointer)); };
  const auto to = iterator.strides(0);
  const auto from = iterator.strides(1);
  const auto index = iterator.strides(2);
  return index[0] == 0 && index[1] == iterator.element_size(2) && to[0] == item && from[0] == item && from[1] == 0 &&
         aligned_pointer(iterator.data_ptr(0)) && aligned_pointer(iterator.data_ptr(1)) &&
         aligned(iterator.shape()[0] * item) && aligned(source_stride_bytes) && aligned(to[1]);
}

kernels::VectorizedGather rows_of(const at::TensorIteratorBase& iterator, int64_t source_rows,
                                  int64_t source_stride_bytes, bool allow_negative) {
  kernels::VectorizedGather args;
  args.out = iterator.data_ptr(0);
  args.source = iterator.data_ptr(1);
  args.indices = iterator.data_ptr(2);
  args.wide_indices = iterator.element_size(2) == 8;
  args.allow_negative = allow_negative;
  args.count = iterator.shape()[1];
  args.row_bytes = iterator.shape()[0] * static_cast<int64_t>(iterator.element_size(0));
  args.source_rows = source_rows;
  args.out_stride = iterator.strides(0)[1];
  args.source_stride = source_stride_bytes;
  return args;
}

namespace {

std::optional<DType> arithmetic_dtype(at::ScalarType type) {
  if (type == at::kHalf) return DType::f16;
  if (type == at::kBFloat16) return DType::bf16;
  if (type == at::kFloat) return DType::f32;
  if (type == at::kDouble) return DType::f64;
  if (type == at::kByte) return DType::u8;
  if (type == at::kChar) return DType::i8;
  if (type == at::kShort) return DType::i16;
  if (type == at::kInt) return DType::i32;
  if (type == at::kLong) return DType::i64;
  if (type == at::kBool) return DType::boolean;
  return std::nullopt;
}

template <typename T>
at::Scalar extreme(bool largest) {
  return largest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
}

at::Scalar extreme(at::ScalarType type, bool largest) {
  if (type == at::kBool) return largest;
  if (type == at::kByte) return extreme<std::uint8_t>(largest);
  if (type == at::kChar) return extreme<std::int8_t>(largest);
  if (type == at::kShort) return extreme<std::int16_t>(largest);
  if (type == at::kInt) return extreme<std::int32_t>(largest);
  if (type == at::kLong) return extreme<std::int64_t>(largest);
  const double infinity = std::numeric_limits<double>::infinity();
  return largest ? infinity : -infinity;
}

}  // namespace

Tensor with_dimensions(const Tensor& tensor) { return tensor.dim() == 0 ? tensor.unsqueeze(0) : tensor; }

DType dtype_of(const Tensor& tensor, const char* kernel) {
  const std::optional<DType> dtype = arithmetic_dtype(tensor.scalar_type());
  if (!dtype.has_value()) throw_no_kernel(kernel, tensor.scalar_type());
  return *dtype;
}

kernels::Value value_of(const at::Scalar& scalar, at::ScalarType type) {
  const Tensor element = at::full({}, scalar, at::TensorOptions(type));
  kernels::Value value;
  std::memcpy(value.bytes, element.const_data_ptr(), element.element_size());
  return value;
}

Operation operation_of(at::native::ReductionType type, at::ScalarType dtype) {
  switch (type) {
    case at::native::ReductionType::PROD: return {kernels::Reduction::multiply, 1};
    case at::native::ReductionType::MAX: return {kernels::Reduction::maximum, extreme(dtype, false)};
    case at::native::ReductionType::MIN: return {kernels::Reduction::minimum, extreme(dtype, true)};
    case at::native::ReductionType::SUM:
    case at::native::ReductionType::MEAN: return {kernels::Reduction::add, 0};
  }
  return {kernels::Reduction::add, 0};
}

void divide_by_count(const Tensor& sums, const Tensor& count) {
  count.masked_fill_(count == 0, 1);
  if (sums.is_floating_point()) {
    sums.div_(count);
  } else {
    sums.div_(count, "floor");
  }
}

namespace {

// `tensor` in the shape of the index; stride zero along `dim` where the index decides (`looked_up`).
Tensor restrided(const Tensor& tensor, int64_t dim, at::IntArrayRef sizes, bool looked_up) {
  std::vector<int64_t> strides = tensor.strides().vec();
  if (looked_up) strides[static_cast<std::size_t>(dim)] = 0;
  return tensor.as_strided(sizes, strides);
}

kernels::GatherScatter arguments_of(const at::TensorIterator& iterator, const Tensor& looked_up, int64_t dim) {
  kernels::GatherScatter args;
  args.element_bytes = static_cast<int>(iterator.element_size(0));
  args.self = iterator.data_ptr(0);
  args.source = iterator.data_ptr(1);
  args.index = iterator.data_ptr(2);
  args.wide_index = iterator.element_size(2) == 8;
  args.count = iterator.numel();
  args.size = looked_up.size(dim);
  args.stride = looked_up.stride(dim) * static_cast<int64_t>(looked_up.element_size());
  args.walk = walk_of(iterator);
  return args;
}

// One scatter: into `self`, from `source` (undefined for a fill), at `index`.
struct Scattering {
  Tensor self, source, index;
  int64_t dim;
  kernels::GatherScatter args;

  Scattering(const Tensor& self_, int64_t dim_, const Tensor& index_, const Tensor& source_)
      : self(with_dimensions(self_)),
        source(source_.defined() ? with_dimensions(source_) : source_),
        index(with_dimensions(index_)),
        dim(at::maybe_wrap_dim(dim_, self_.dim())) {
    at::assert_no_internal_overlap(self);
    const Tensor to = restrided(self, dim, index.sizes(), true);
    const Tensor from = source.defined() ? restrided(source, dim, index.sizes(), false) : to;
    args = arguments_of(iterator_over(to, from, index), self, dim);
    if (!source.defined()) args.source = nullptr;
  }

  kernels::ScatterReduce reduce(DType dtype, kernels::Reduction reduction) const {
    kernels::ScatterReduce out;
    out.scatter = args;
    out.dtype = dtype;
    out.reduction = reduction;
    const auto item = static_cast<int64_t>(self.element_size());
    const auto index_item = static_cast<int64_t>(index.element_size());
    out.line_count = 1;
    out.line_length = index.size(dim);
    out.line_source_stride = source.defined() ? source.stride(dim) * item : 0;
    out.line_index_stride = index.stride(dim) * index_item;
    expect_dims(static_cast<std::size_t>(index.dim()));
    for (int64_t d = index.dim() - 1; d >= 0; --d) {
      if (d == dim) continue;
      const int at = out.lines.dims++;
      out.lines.sizes[at] = index.size(d);
      out.lines.strides[0][at] = self.stride(d) * item;
      out.lines.strides[1][at] = source.defined() ? source.stride(d) * item : 0;
      out.lines.strides[2][at] = index.stride(d) * index_item;
      out.line_count *= index.size(d);
    }
    return out;
  }
};

kernels::Reduction old_reduction(c10::string_view reduce) {
  return reduce == "add" ? kernels::Reduction::add : kernels::Reduction::multiply;
}

// What every form does first. False: there is nothing to scatter.
template <typename Meta, typename... Args>
bool begin(const char* wrapper, const Tensor& self, const Tensor& index, const Tensor& source, const Tensor& out,
           const Args&... args) {
  expect_one_device(wrapper, {{self, "self"}, {index, "index"}, {source, "src"}});
  Outputs<Meta> op(out);
  op.meta(self, args...);
  check_pending();
  if (!self.is_same(out)) out.copy_(self);
  return index.numel() > 0;
}

Tensor& scatter_source(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Tensor& out) {
  const c10::DeviceGuard guard(self.device());
  if (!begin<at::meta::structured_scatter_src>("wrapper_CUDA_scatter", self, index, source, out, dim, index, source)) {
    return out;
  }
  kernels::scatter(Scattering(out, dim, index, source).args, stream_for(out));
  check_after_launch();
  return out;
}

Tensor& scatter_value(const Tensor& self, int64_t dim, const Tensor& index, const at::Scalar& value, Tensor& out) {
  const c10::DeviceGuard guard(self.device());
  if (!begin<at::meta::structured_scatter_value>("wrapper_CUDA_scatter", self, index, {}, out, dim, index, value)) {
    return out;
  }
  kernels::scatter_fill(Scattering(out, dim, index, {}).args, value_of(value, out.scalar_type()), stream_for(out));
  check_after_launch();
  return out;
}

Tensor& scatter_source_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                              c10::string_view reduce, Tensor& out) {
  const c10::DeviceGuard guard(self.device());
  if (!begin<at::meta::structured_scatter_reduce>("wrapper_CUDA_scatter", self, index, source, out, dim, index, source,
                                                  reduce)) {
    return out;
  }
  const DType dtype = dtype_of(out, "cuda_scatter_gather_base_kernel_func");
  kernels::scatter_reduce(Scattering(out, dim, index, source).reduce(dtype, old_reduction(reduce)), stream_for(out));
  check_after_launch();
  return out;
}

Tensor& scatter_value_reduce(const Tensor& self, int64_t dim, const Tensor& index, const at::Scalar& value,
                             c10::string_view reduce, Tensor& out) {
  const c10::DeviceGuard guard(self.device());
  if (!begin<at::meta::structured_scatter_value_reduce>("wrapper_CUDA_scatter", self, index, {}, out, dim, index, value,
                                                        reduce)) {
    return out;
  }
  const DType dtype = dtype_of(out, "cuda_scatter_fill_base_kernel_func");
  kernels::scatter_fill_reduce(Scattering(out, dim, index, {}).reduce(dtype, old_reduction(reduce)),
                               value_of(value, out.scalar_type()), stream_for(out));
  check_after_launch();
  return out;
}

Tensor& scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Tensor& out) {
  const c10::DeviceGuard guard(self.device());
  if (!begin<at::meta::structured_scatter_add>("wrapper_CUDA_scatter_add", self, index, source, out, dim, index,
                                               source)) {
    return out;
  }
  const DType dtype = dtype_of(out, "cuda_scatter_gather_base_kernel_func");
  kernels::scatter_reduce(Scattering(out, dim, index, source).reduce(dtype, kernels::Reduction::add), stream_for(out));
  check_after_launch();
  return out;
}

Tensor& scatter_reduce_two(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                           c10::string_view reduce, bool include_self, Tensor& out) {
  const c10::DeviceGuard guard(self.device());
  if (!begin<at::meta::structured_scatter_reduce_two>("wrapper_CUDA_scatter_reduce", self, index, source, out, dim,
                                                      index, source, reduce, include_self)) {
    return out;
  }
  const DType dtype = dtype_of(out, "cuda_scatter_gather_base_kernel_func");
  const auto type = at::native::get_reduction_enum(reduce);
  const Operation operation = operation_of(type, out.scalar_type());
  if (!include_self) out.scatter_(dim, index, operation.neutral);
  kernels::scatter_reduce(Scattering(out, dim, index, source).reduce(dtype, operation.reduction), stream_for(out));
  check_after_launch();
  if (type == at::native::ReductionType::MEAN) {
    Tensor count = include_self ? at::ones_like(out) : at::zeros_like(out);
    count.scatter_add_(dim, index, at::ones_like(source));
    divide_by_count(out, count);
  }
  return out;
}

}  // namespace

void launch_gather(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out) {
  const Tensor source = with_dimensions(self);
  const Tensor where = with_dimensions(index);
  const Tensor to = restrided(with_dimensions(out), dim, where.sizes(), false);
  const at::TensorIterator iterator = iterator_over(to, restrided(source, dim, where.sizes(), true), where);
  const int64_t stride = source.stride(dim) * static_cast<int64_t>(source.element_size());
  if (copies_rows(iterator, stride)) {
    kernels::vectorized_gather(rows_of(iterator, source.size(dim), stride, /*allow_negative=*/false), stream_for(out));
  } else {
    kernels::gather(arguments_of(iterator, source, dim), stream_for(out));
  }
  check_after_launch();
}

// The functional and in-place forms come with LibTorch: they call these.
DSAFUZZ_OPERATORS(dense, m) {
  m.impl("scatter.src_out", &scatter_source);
  m.impl("scatter.value_out", &scatter_value);
  m.impl("scatter.reduce_out", &scatter_source_reduce);
  m.impl("scatter.value_reduce_out", &scatter_value_reduce);
  m.impl("scatter_add.out", &scatter_add);
  m.impl("scatter_reduce.two_out", &scatter_reduce_two);
}

}  // namespace vcuda::aten
