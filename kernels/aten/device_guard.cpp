// Devices, streams and events of the virtual device as LibTorch sees them, and the backend's name.
// Grids run in the launching call, so a stream never has work left and an event is done once it is recorded; what an
// event orders is told to the runtime for racecheck.
#include <c10/core/DeviceGuard.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <chrono>

#include "kernels/aten/backend.h"
#include "kernels/aten/error.h"
#include "kernels/vcuda/runtime.h"

namespace vcuda::aten {
namespace {

using c10::Device;
using c10::DeviceIndex;
using c10::DeviceType;

Device device_of(int index) { return {DeviceType::PrivateUse1, static_cast<DeviceIndex>(index)}; }

c10::Stream stream_of(Stream stream, Device device) {
  return c10::Stream(c10::Stream::UNSAFE, device, static_cast<c10::StreamId>(stream));
}

int index_of(Device device) { return device.has_index() ? device.index() : current_device(); }

struct Event {
  std::chrono::steady_clock::time_point recorded;
  vcuda::Event order = 0;
};

struct Guard final : c10::impl::DeviceGuardImplInterface {
  DeviceType type() const override { return DeviceType::PrivateUse1; }
  Device exchangeDevice(Device device) const override {
    const Device before = getDevice();
    if (device.has_index() && device.index() != before.index()) setDevice(device);
    return before;
  }
  Device getDevice() const override { return device_of(current_device()); }
  void setDevice(Device device) const override {
    TORCH_INTERNAL_ASSERT(device.is_privateuseone());
    check(set_device(device.index()));
  }
  void uncheckedSetDevice(Device device) const noexcept override { (void)set_device(device.index()); }
  DeviceIndex deviceCount() const noexcept override { return static_cast<DeviceIndex>(device_count()); }

  c10::Stream getStream(Device device) const override {
    const int index = index_of(device);
    return stream_of(current_stream(index), device_of(index));
  }
  c10::Stream getDefaultStream(Device device) const override { return stream_of(0, device_of(index_of(device))); }
  c10::Stream getNewStream(Device device, int) const override {
    const int index = index_of(device);
    return stream_of(create_stream(index), device_of(index));
  }
  c10::Stream getStreamFromGlobalPool(Device device, bool) const override { return getNewStream(device, 0); }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const c10::Stream before = getStream(stream.device());
    set_current_stream(stream.device().index(), static_cast<Stream>(stream.id()));
    return before;
  }
  bool queryStream(const c10::Stream&) const override {
    check_pending();
    return true;
  }
  void synchronizeStream(const c10::Stream& stream) const override { synchronizeDevice(stream.device_index()); }
  void synchronizeDevice(const DeviceIndex index) const override {
    const c10::DeviceGuard guard(device_of(index < 0 ? current_device() : index));
    check(synchronize());
  }

  void record(void** event, const c10::Stream& stream, const DeviceIndex, const c10::EventFlag) const override {
    check_pending();
    if (*event == nullptr) *event = new Event;
    static_cast<Event*>(*event)->recorded = std::chrono::steady_clock::now();
    const c10::DeviceGuard guard(stream.device());
    static_cast<Event*>(*event)->order = record_event(static_cast<Stream>(stream.id()));
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event == nullptr) return;
    const c10::DeviceGuard guard(stream.device());
    wait_event(static_cast<Stream>(stream.id()), static_cast<Event*>(event)->order);
  }
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override { check(synchronize()); }
  void destroyEvent(void* event, const DeviceIndex) const noexcept override { delete static_cast<Event*>(event); }
  double elapsedTime(void* from, void* to, const DeviceIndex) const override {
    const auto span = static_cast<Event*>(to)->recorded - static_cast<Event*>(from)->recorded;
    return std::chrono::duration<double, std::milli>(span).count();
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

// At load, so that a program which links this library may say at::Device("vcuda:1") at once.
const bool kNamed = [] {
  c10::register_privateuse1_backend("vcuda");
  return true;
}();

}  // namespace
}  // namespace vcuda::aten
