// What LibTorch asks of an accelerator apart from tensors. Random numbers come from the CPU's generator, because
// random operators run there (fallback.cpp).
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>

#include "kernels/aten/allocator.h"
#include "kernels/aten/error.h"
#include "kernels/vcuda/runtime.h"

namespace vcuda::aten {
namespace {

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return vcuda::device_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex index) const override { return index < vcuda::device_count(); }
  c10::DeviceIndex deviceCount() const override { return static_cast<c10::DeviceIndex>(vcuda::device_count()); }
  c10::DeviceIndex getCurrentDevice() const override { return static_cast<c10::DeviceIndex>(current_device()); }
  void setCurrentDevice(c10::DeviceIndex index) const override { check(set_device(index)); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override {
    const c10::DeviceIndex before = getCurrentDevice();
    if (index >= 0 && index != before) check(set_device(index));
    return before;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override { return exchangeDevice(index); }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    return at::detail::getDefaultCPUGenerator();
  }
  at::Generator getNewGenerator(c10::DeviceIndex) const override { return at::detail::createCPUGenerator(); }

  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  at::Allocator* getPinnedMemoryAllocator() const override { return pinned_allocator(); }
  at::Device getDeviceFromPtr(void* data) const override {
    const AllocationInfo info = find_allocation(data);
    TORCH_CHECK(info.device >= 0, "The pointer is not memory of a virtual device.");
    return {c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(info.device)};
  }

  // The old bytes up to the smaller of the two sizes survive, as on CUDA.
  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t bytes) const override {
    const c10::DeviceIndex before = exchangeDevice(storage.device().index());
    at::DataPtr data = device_allocator()->allocate(bytes);
    const std::size_t kept = bytes < storage.nbytes() ? bytes : storage.nbytes();
    if (kept > 0) check(copy(data.get(), storage.data(), kept));
    storage.set_data_ptr_noswap(std::move(data));
    storage.set_nbytes(bytes);
    (void)exchangeDevice(before);
  }
};

const bool kRegistered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

}  // namespace
}  // namespace vcuda::aten
