// What a tensor needs before it can compute: memory, views, copies between devices, fills, and reading one element.
// A copy that changes type or order of elements is done by the CPU between two raw copies.
#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/is_set_to_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "kernels/aten/allocator.h"
#include "kernels/aten/backend.h"
#include "kernels/aten/error.h"
#include "kernels/vcuda/runtime.h"

namespace vcuda::aten {
namespace {

using at::IntArrayRef;
using at::Tensor;

constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

Tensor empty(IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
             std::optional<at::Device> device, std::optional<bool> pin, std::optional<at::MemoryFormat> format) {
  TORCH_CHECK(!pin.value_or(false), "Only dense CPU tensors can be pinned");
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(at::kStrided) == at::kStrided, "vcuda tensors are strided");
  const c10::OptionalDeviceGuard guard(device);
  return at::detail::empty_generic(size, device_allocator(), kKeys, c10::dtype_or_default(dtype), format);
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, std::optional<at::ScalarType> dtype,
                     std::optional<at::Layout> layout, std::optional<at::Device> device, std::optional<bool> pin) {
  TORCH_CHECK(!pin.value_or(false), "Only dense CPU tensors can be pinned");
  TORCH_CHECK_NOT_IMPLEMENTED(layout.value_or(at::kStrided) == at::kStrided, "vcuda tensors are strided");
  const c10::OptionalDeviceGuard guard(device);
  return at::detail::empty_strided_generic(size, stride, device_allocator(), kKeys, c10::dtype_or_default(dtype));
}

void grow_storage(const Tensor& self, std::size_t bytes) {
  if (bytes > self.storage().nbytes()) {
    at::detail::getPrivateUse1Hooks().resizePrivateUse1Bytes(self.storage(), bytes);
  }
}

const Tensor& resize_(const Tensor& self, IntArrayRef size, std::optional<at::MemoryFormat> format) {
  auto* impl = self.unsafeGetTensorImpl();
  if (self.sizes() != size) {
    impl->set_sizes_contiguous(size);
    const std::size_t item = self.element_size();
    grow_storage(self, at::detail::computeStorageNbytesContiguous(size, item, self.storage_offset()));
  }
  if (format.has_value()) impl->empty_tensor_restride(*format);
  return self;
}

Tensor& set_storage(Tensor& self, at::Storage storage, int64_t offset, IntArrayRef size, IntArrayRef stride) {
  at::native::checkSetStorage<int64_t>(self, std::move(storage), offset, size, stride);
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_offset(offset);
  if (stride.data() == nullptr) {
    impl->set_sizes_contiguous(size);
  } else {
    impl->set_sizes_and_strides(size, stride);
  }
  const std::size_t item = self.element_size();
  if (self.numel() > 0) grow_storage(self, at::detail::computeStorageNbytes(size, self.strides(), item, offset));
  return self;
}

Tensor& set_empty(Tensor& self) {
  const c10::DeviceGuard guard(self.device());
  at::Storage storage(at::Storage::use_byte_size_t(), 0, device_allocator(), /*resizable=*/true);
  return set_storage(self, std::move(storage), 0, {0}, {});
}

std::size_t span_bytes(const Tensor& tensor) {
  return at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(), tensor.element_size());
}

// A CPU tensor of the same sizes, strides and bytes.
Tensor host_image(const Tensor& tensor) {
  const std::size_t bytes = span_bytes(tensor);
  auto storage = at::Storage(at::Storage::use_byte_size_t(), bytes, c10::GetAllocator(c10::kCPU), false);
  if (bytes > 0) check(copy(storage.mutable_data(), tensor.const_data_ptr(), bytes));
  Tensor image = at::empty({0}, tensor.options().device(at::kCPU)).set_(storage, 0, tensor.sizes(), tensor.strides());
  if (tensor.is_conj()) image._set_conj(true);
  if (tensor.is_neg()) image._set_neg(true);
  return image;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg();
}

// Fills the device tensor `to` with `values`, a CPU tensor.
void upload(const Tensor& values, const Tensor& to) {
  if (to.numel() == 0) return;
  if (same_bits(values, to) && to.is_non_overlapping_and_dense() && values.strides() == to.strides()) {
    return check(copy(to.mutable_data_ptr(), values.const_data_ptr(), to.nbytes()));
  }
  // Elements between those of `to` belong to others, so a tensor with gaps is read first.
  const Tensor image = to.is_non_overlapping_and_dense() && !to.is_conj() && !to.is_neg()
                           ? at::empty_strided(to.sizes(), to.strides(), to.options().device(at::kCPU))
                           : host_image(to);
  image.copy_(values);
  check(copy(to.mutable_data_ptr(), image.const_data_ptr(), span_bytes(to)));
}

Tensor copy_from(const Tensor& self, const Tensor& to, bool) {
  check_pending();
  if (to.numel() == 0) return to;
  const Tensor from = self.sizes() == to.sizes() ? self : self.expand_as(to);
  if (same_bits(from, to) && from.strides() == to.strides() && to.is_non_overlapping_and_dense()) {
    check(copy(to.mutable_data_ptr(), from.const_data_ptr(), to.nbytes()));
    return to;
  }
  const Tensor values = from.is_cpu() ? from : host_image(from);
  if (to.is_cpu()) {
    to.copy_(values);
  } else {
    upload(values, to);
  }
  return to;
}

Tensor copy_from_and_resize(const Tensor& self, const Tensor& to) {
  to.resize_(self.sizes());
  return copy_from(self, to, false);
}

Tensor& fill_scalar(Tensor& self, const at::Scalar& value) {
  check_pending();
  if (self.numel() > 0) upload(at::full({}, value, self.options().device(at::kCPU)).expand(self.sizes()), self);
  return self;
}

Tensor& fill_tensor(Tensor& self, const Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(),
              " dimensions.");
  return fill_scalar(self, value.item());
}

Tensor& zero(Tensor& self) {
  check_pending();
  if (self.numel() == 0) return self;
  if (!self.is_non_overlapping_and_dense()) return fill_scalar(self, 0);
  check(fill(self.mutable_data_ptr(), 0, self.nbytes()));
  return self;
}

at::Scalar local_scalar(const Tensor& self) {
  check_pending();
  return at::_local_scalar_dense(host_image(self));
}

void record_stream(Tensor&, at::Stream) {}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("resize_", &resize_);
  m.impl("set_.source_Storage", TORCH_FN(static_cast<Tensor& (*)(Tensor&, at::Storage)>(&at::native::set_)));
  m.impl("set_.source_Storage_storage_offset", &set_storage);
  m.impl("set_.source_Tensor", TORCH_FN(at::native::set_tensor_));
  m.impl("set_", &set_empty);
  m.impl("is_set_to", TORCH_FN(at::native::is_set_to));
  m.impl("view", TORCH_FN(at::native::view));
  m.impl("as_strided", TORCH_FN(at::native::as_strided_tensorimpl));
  m.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  m.impl("unfold", TORCH_FN(at::native::unfold));
  m.impl("view_as_real", TORCH_FN(at::native::view_as_real));
  m.impl("view_as_complex", TORCH_FN(at::native::view_as_complex));
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
  m.impl("fill_.Scalar", &fill_scalar);
  m.impl("fill_.Tensor", &fill_tensor);
  m.impl("zero_", &zero);
  m.impl("_local_scalar_dense", &local_scalar);
  m.impl("record_stream", &record_stream);
}

// Copies see to the conjugate and negative bits themselves; LibTorch would copy a tensor to get rid of them first.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
  m.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}

}  // namespace vcuda::aten
