// The memory calls of runtime.h: allocation, copies, and what is known of an address.
#include <cstdio>
#include <cstring>

#include "kernels/vcuda/context.h"
#include "kernels/vcuda/fault_report.h"
#include "kernels/vcuda/runtime_state.h"

namespace vcuda {
namespace {

std::uintptr_t number(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

int index_of(const Device& device) { return static_cast<int>(&device - runtime().devices.data()); }

// Without a tool freed memory is kept for the next who asks, as a program's own allocator does.
bool caches() { return options().caching || options().tool == Tool::none; }

void print_report(const std::string& report) {
  if (options().tool != Tool::none) std::fwrite(report.data(), 1, report.size(), stderr);
}

// After a copy or fill under initcheck.
void mark_written(void* to, const void* from, std::size_t bytes) {
  if (options().tool != Tool::initcheck || bytes == 0) return;
  Device* const target = device_holding(number(to));
  if (target == nullptr) return;
  const std::size_t offset = number(to) - target->arena.range().begin;
  Device* const source = device_holding(number(from));
  if (source == nullptr) {
    target->arena.written().mark(offset, bytes);
  } else {
    target->arena.written().copy(offset, source->arena.written(), number(from) - source->arena.range().begin, bytes);
  }
}

// Reports and poisons when [pointer, pointer + bytes) lies in an arena and may not be touched; returns the device's
// sticky error in any case. Host memory is not looked at. Requires: the lock is held.
Error check_side(const void* pointer, std::size_t bytes, Access access, const char* call) {
  Device* const device = device_holding(number(pointer));
  if (device == nullptr) return Error::none;
  if (device->failure != Error::none) return device->failure;
  const shadow::Range range = device->arena.range();
  const std::size_t offset = number(pointer) - range.begin;
  const bool inside = bytes <= range.bytes - offset;
  if (inside && shadow::first_bad(device->arena.shadow(), offset, bytes) == offset + bytes) return Error::none;
  print_report(
      describe_fault(index_of(*device), {.address = number(pointer), .bytes = bytes, .access = access, .place = call}));
  device->failure = Error::illegal_address;
  device->failed_launch = kNoLaunch;
  return device->failure;
}

Error current_failure() { return runtime().devices[static_cast<std::size_t>(current_device())].failure; }

}  // namespace

Error allocate(void** out, std::size_t bytes, Stream stream) {
  *out = nullptr;
  Runtime& all = runtime();
  const int chosen = stream == 0 ? current_device() : stream_device(stream);
  if (chosen < 0) return Error::invalid_resource_handle;
  const std::lock_guard held(all.lock);
  Device& device = all.devices[static_cast<std::size_t>(chosen)];
  const bool caching = caches();
  if (device.failure != Error::none && !(caching && device.arena.has_cached(bytes))) return device.failure;
  if (bytes == 0) return Error::none;
  *out = device.arena.allocate(bytes, options().memory_bytes, caching, options().tool, device.launches);
  return *out == nullptr ? Error::out_of_memory : Error::none;
}

Error deallocate(void* pointer) {
  if (pointer == nullptr) return Error::none;
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  Device* const device = device_holding(number(pointer));
  const bool caching = caches();
  const auto freed =
      device ? device->arena.deallocate(number(pointer), caching, device->launches) : Arena::Freed::unknown;
  switch (freed) {
    case Arena::Freed::yes: return caching ? Error::none : device->failure;
    case Arena::Freed::stale: return Error::none;
    case Arena::Freed::twice:
    case Arena::Freed::unknown: break;
  }
  const FoundBlock block = device ? device->arena.nearest(number(pointer)) : FoundBlock{};
  print_report(describe_bad_free(number(pointer), freed == Arena::Freed::twice, block));
  return device && device->failure != Error::none ? device->failure : Error::invalid_value;
}

void empty_cache() {
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  for (Device& device : all.devices) device.arena.empty_cache(device.launches);
}

AllocationInfo find_allocation(const void* address) {
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  const Device* const device = device_holding(number(address));
  if (device == nullptr) return {};
  const FoundBlock found = device->arena.holding(number(address));
  if (found.base == 0) return {};
  return {reinterpret_cast<const void*>(found.base), found.block.bytes, index_of(*device),
          found.block.state != BlockState::live};
}

bool is_device_pointer(const void* address) {
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  return device_holding(number(address)) != nullptr;
}

MemoryStats memory_stats(int device) {
  if (!is_device(device)) return {};
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  return all.devices[static_cast<std::size_t>(device)].arena.stats();
}

Error copy(void* to, const void* from, std::size_t bytes) {
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  if (const Error error = current_failure(); error != Error::none) return error;
  if (const Error error = check_side(from, bytes, Access::read, "cudaMemcpy"); error != Error::none) return error;
  if (const Error error = check_side(to, bytes, Access::write, "cudaMemcpy"); error != Error::none) return error;
  if (bytes != 0) std::memmove(to, from, bytes);
  mark_written(to, from, bytes);
  all.order.wait_on_host();
  return Error::none;
}

Error fill(void* to, int byte, std::size_t bytes) {
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  if (const Error error = current_failure(); error != Error::none) return error;
  if (const Error error = check_side(to, bytes, Access::write, "cudaMemset"); error != Error::none) return error;
  if (bytes != 0) std::memset(to, byte, bytes);
  mark_written(to, nullptr, bytes);
  all.order.wait_on_host();
  return Error::none;
}

}  // namespace vcuda
