// Indexing with tensors on the virtual device: x[i], x[i] = v, index_select (and so embedding), gather.
#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/CanUse32BitIndexMath.h>
#include <ATen/native/TensorAdvancedIndexingUtils.h>
#include <ATen/ops/gather_meta.h>
#include <ATen/ops/index_meta.h>
#include <torch/library.h>

#include "kernels/aten/gather_scatter.h"
#include "kernels/aten/registration.h"
#include "kernels/indexing/advanced_index.h"
#include "kernels/indexing/index_select.h"
#include "kernels/indexing/vectorized_gather.h"

namespace vcuda::aten {
namespace {

using at::Tensor;
using Indices = c10::List<std::optional<Tensor>>;
using IndexMeta = Outputs<at::meta::structured_index_Tensor>;

// What the operator's shape function finds out: the indexed tensor with stride zero along indexed dimensions, and the
// index tensors, broadcast against each other.
struct Prepared {
  Tensor indexed;
  std::vector<Tensor> indices;
  at::DimVector sizes, strides;  // of the indexed dimensions, strides in bytes
};

Prepared prepare(IndexMeta& op, const Tensor& self, const Indices& indices) {
  const auto found = op.meta(self, at::IOptTensorListRef(indices));
  Prepared prepared{op.tensor(1), {}, found.sizes, found.strides};
  bool alike = true;
  for (int i = 2; i < op.ntensors(); ++i) {
    prepared.indices.push_back(op.tensor(i));
    alike = alike && op.tensor(i).strides() == op.tensor(2).strides();
  }
  // One walk serves all index tensors.
  if (!alike) {
    for (Tensor& index : prepared.indices) index = index.contiguous();
  }
  TORCH_CHECK(prepared.indices.size() <= kernels::kMaxIndices, "vcuda takes at most ", kernels::kMaxIndices,
              " index tensors");
  return prepared;
}

kernels::AdvancedIndex arguments_of(const at::TensorIterator& iterator, const Prepared& prepared) {
  kernels::AdvancedIndex args;
  args.element_bytes = static_cast<int>(iterator.element_size(0));
  args.out = iterator.data_ptr(0);
  args.in = iterator.data_ptr(1);
  args.count = iterator.numel();
  args.walk = walk_of(iterator);
  args.indices = static_cast<int>(prepared.indices.size());
  for (std::size_t i = 0; i < prepared.indices.size(); ++i) {
    args.index[i] = static_cast<const char*>(prepared.indices[i].const_data_ptr());
    args.sizes[i] = prepared.sizes[i];
    args.strides[i] = prepared.strides[i];
  }
  return args;
}

void launch_get(const Tensor& result, const Prepared& prepared) {
  if (result.numel() == 0) return;
  if (prepared.indices.empty()) {
    result.copy_(prepared.indexed);
    return;
  }
  const at::TensorIterator iterator = iterator_over(result, prepared.indexed, prepared.indices[0]);
  if (prepared.indices.size() == 1 && copies_rows(iterator, prepared.strides[0])) {
    kernels::vectorized_gather(rows_of(iterator, prepared.sizes[0], prepared.strides[0], /*allow_negative=*/true),
                               stream_for(result));
  } else {
    kernels::index_get(arguments_of(iterator, prepared), stream_for(result));
  }
  check_after_launch();
}

Tensor& index_out(const Tensor& self, const Indices& indices, Tensor& out) {
  const c10::DeviceGuard guard(self.device());
  check_pending();
  IndexMeta op(out);
  const Prepared prepared = prepare(op, self, indices);
  launch_get(out, prepared);
  return out;
}

Tensor index(const Tensor& self, const Indices& indices) {
  const c10::DeviceGuard guard(self.device());
  check_pending();
  IndexMeta op;
  const Prepared prepared = prepare(op, self, indices);
  launch_get(op.out[0], prepared);
  return op.out[0];
}

// Where values are added up, CUDA checks each index tensor's bounds by two asserts without a text, unless told not to
// (`unsafe`), and then takes all indices modulo the dimension. What is legal by then is left to the CPU.
Tensor& put_accumulate(Tensor& self, const Indices& indices, const Tensor& values, bool unsafe) {
  IndexMeta op;
  (void)prepare(op, self, indices);  // makes the host's checks
  Indices wrapped;
  int64_t dim = 0;
  for (const std::optional<Tensor>& given : indices) {
    if (!given.has_value() || !given->defined()) {
      wrapped.emplace_back(std::nullopt);
      ++dim;
      continue;
    }
    if (given->scalar_type() == at::kBool || given->scalar_type() == at::kByte) {
      wrapped.emplace_back(given->to(self.device()));
      dim += given->dim();
      continue;
    }
    const Tensor index = given->to(self.device(), at::kLong);
    const int64_t size = self.size(dim++);
    if (index.numel() > 0 && !unsafe) {
      at::_assert_async(index.max() < size);
      at::_assert_async(index.min() >= -size);
    }
    wrapped.emplace_back(size == 0 ? index : index.remainder(size));
  }
  return at::native::call_fallback_fn<&fallback, at::_ops::_index_put_impl_>::call(self, wrapped, values, true, unsafe);
}

Tensor& index_put(Tensor& self, const Indices& indices, const Tensor& values, bool accumulate, bool unsafe) {
  const c10::DeviceGuard guard(self.device());
  check_pending();
  if (accumulate) return put_accumulate(self, indices, values, unsafe);
  const auto [is_mask, mask] = at::native::canDispatchToMaskedFill(self, indices, values);
  if (is_mask) return self.masked_fill_(mask, values.item());
  const Tensor from = values.device() != self.device() && values.dim() == 0 ? values.to(self.device()) : values;
  TORCH_CHECK(from.device() == self.device(),
              "Expected all tensors to be on the same device, but found at least two devices, ", self.device(), " and ",
              from.device(), "!");
  at::assert_no_overlap(self, from);
  IndexMeta op;
  const Prepared prepared = prepare(op, self, indices);
  const Tensor& to = prepared.indexed;
  TORCH_CHECK(at::is_expandable_to(from.sizes(), to.sizes()), "shape mismatch: value tensor of shape ", from.sizes(),
              " cannot be broadcast to indexing result of shape ", to.sizes());
  TORCH_CHECK(from.scalar_type() == to.scalar_type(),
              "Index put requires the source and destination dtypes match, got ", to.scalar_type(),
              " for the destination and ", from.scalar_type(), " for the source.");
  if (to.numel() == 0) return self;
  if (prepared.indices.empty()) {
    self.copy_(from);
    return self;
  }
  const at::TensorIterator iterator = iterator_over(to, from, prepared.indices[0]);
  kernels::index_put(arguments_of(iterator, prepared), stream_for(self));
  check_after_launch();
  return self;
}

// Longer lists of indices are gathered, as on CUDA.
constexpr int64_t kSmallIndexLimit = 16;

void launch_index_select(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out) {
  kernels::IndexSelect args;
  const auto item = static_cast<int64_t>(self.element_size());
  args.element_bytes = static_cast<int>(item);
  args.out = out.mutable_data_ptr();
  args.source = self.const_data_ptr();
  args.indices = index.const_data_ptr();
  args.wide_indices = index.scalar_type() == at::kLong;
  args.narrow = at::native::canUse32BitIndexMath(out) && at::native::canUse32BitIndexMath(self) &&
                at::native::canUse32BitIndexMath(index);
  args.count = index.numel();
  args.index_stride = index.dim() == 0 ? 1 : index.stride(0);
  args.source_size = self.dim() == 0 ? 1 : self.size(dim);
  args.out_stride = out.dim() == 0 ? item : out.stride(dim) * item;
  args.source_stride = self.dim() == 0 ? item : self.stride(dim) * item;
  args.slice_elements = out.numel() / index.numel();
  expect_dims(static_cast<std::size_t>(self.dim()));
  for (int64_t d = self.dim() - 1; d >= 0; --d) {
    if (d == dim) continue;
    args.slice.sizes[args.slice.dims] = out.size(d);
    args.slice.strides[0][args.slice.dims] = out.stride(d) * item;
    args.slice.strides[1][args.slice.dims] = self.stride(d) * item;
    ++args.slice.dims;
  }
  kernels::index_select_small(args, stream_for(self));
  check_after_launch();
}

Tensor& index_select_out(const Tensor& self, int64_t dim, const Tensor& index, Tensor& out) {
  expect_one_device("wrapper_CUDA__index_select", {{self, "self"}, {index, "index"}});
  const c10::DeviceGuard guard(self.device());
  check_pending();
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, index);
  dim = at::maybe_wrap_dim(dim, self.dim());
  const int64_t count = index.numel();
  TORCH_CHECK(index.dim() <= 1, "Index is supposed to be an empty tensor or a vector");
  TORCH_CHECK(!(self.dim() == 0 && count != 1), "index_select(): Index to scalar can have only 1 value, got ", count,
              " value(s)");
  std::vector<int64_t> sizes = self.sizes().vec();
  if (self.dim() > 0) sizes[static_cast<std::size_t>(dim)] = count;
  at::native::resize_output(out, sizes);
  if (out.numel() == 0) return out;
  if (index.scalar_type() != at::kLong && index.scalar_type() != at::kInt) {
    throw_no_kernel("index_select_out_cuda_impl", index.scalar_type());
  }
  if (count <= kSmallIndexLimit) {
    launch_index_select(self, dim, index, out);
    return out;
  }
  std::vector<int64_t> shape(sizes.size(), 1);
  shape[static_cast<std::size_t>(dim)] = count;
  return at::gather_out(out, self, dim, index.view(shape).expand(sizes));
}

Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  Tensor out = at::empty({0}, self.options());
  return index_select_out(self, dim, index, out);
}

Tensor& gather_out(const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad, Tensor& out) {
  expect_one_device("wrapper_CUDA_gather", {{self, "self"}, {index, "index"}});
  const c10::DeviceGuard guard(self.device());
  Outputs<at::meta::structured_gather> op(out);
  op.meta(self, dim, index, sparse_grad);
  check_pending();
  if (index.numel() == 0) return out;
  launch_gather(self, at::maybe_wrap_dim(dim, self.dim()), index, out);
  return out;
}

}  // namespace

DSAFUZZ_OPERATORS(dense, m) {
  m.impl("index.Tensor", &index);
  m.impl("index.Tensor_out", &index_out);
  m.impl("_index_put_impl_", &index_put);
  m.impl("index_select", &index_select);
  m.impl("index_select.out", &index_select_out);
  m.impl("gather.out", &gather_out);
}

}  // namespace vcuda::aten
