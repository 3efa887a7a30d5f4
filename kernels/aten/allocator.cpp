// Device memory for LibTorch, straight from vcuda::allocate: whether memory is cached is the runtime's option.
#include "kernels/aten/allocator.h"

#include <c10/core/Allocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>

#include <cstdio>
#include <mutex>
#include <string>
#include <unordered_set>

#include "kernels/aten/error.h"
#include "kernels/vcuda/runtime.h"

namespace vcuda::aten {
namespace {

// Two decimals and the largest unit that is not below one, as CUDA's caching allocator prints sizes.
std::string size_text(std::size_t bytes) {
  constexpr double kStep = 1024.0;
  const double value = static_cast<double>(bytes);
  char text[48];
  if (bytes <= 1024) {
    std::snprintf(text, sizeof text, "%zu bytes", bytes);
  } else if (value <= kStep * kStep) {
    std::snprintf(text, sizeof text, "%.2f KiB", value / kStep);
  } else if (value <= kStep * kStep * kStep) {
    std::snprintf(text, sizeof text, "%.2f MiB", value / kStep / kStep);
  } else {
    std::snprintf(text, sizeof text, "%.2f GiB", value / kStep / kStep / kStep);
  }
  return text;
}

[[noreturn]] void throw_out_of_memory(std::size_t bytes, int device) {
  const std::size_t total = options().memory_bytes;
  const std::size_t live = memory_stats(device).live_bytes;
  const std::size_t free_bytes = live < total ? total - live : 0;
  C10_THROW_ERROR(
      OutOfMemoryError,
      "CUDA out of memory. Tried to allocate " + size_text(bytes) + ". GPU " + std::to_string(device) +
          " has a total capacity of " + size_text(total) + " of which " + size_text(free_bytes) +
          " is free. Including non-PyTorch memory, this process has " + size_text(live) +
          " memory in use. Of the allocated memory " + size_text(live) + " is allocated by PyTorch, and " +
          size_text(0) +
          " is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
          "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory "
          "Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-"
          "cuda-alloc-conf)");
}

void release(void* pointer) {
  // A destructor may run while another error is on its way, so a failure here has nowhere to go; the runtime has
  // already reported it on stderr.
  (void)deallocate(pointer);
}

struct DeviceAllocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    const int device = current_device();
    const c10::Device where(c10::DeviceType::PrivateUse1, static_cast<c10::DeviceIndex>(device));
    void* pointer = nullptr;
    const Error error = vcuda::allocate(&pointer, bytes, current_stream(device));
    if (error == Error::out_of_memory) {
      (void)get_error();
      throw_out_of_memory(bytes, device);
    }
    check(error);
    return {pointer, pointer, &release, where};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { check(copy(to, from, bytes)); }
};

// "Pinned" memory is ordinary host memory that remembers being asked for.
class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* pointer = bytes == 0 ? nullptr : c10::alloc_cpu(bytes);
    if (pointer != nullptr) {
      const std::lock_guard lock(mutex());
      blocks().insert(pointer);
    }
    return {pointer, pointer, &forget, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &forget; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
  static bool holds(const void* pointer) {
    const std::lock_guard lock(mutex());
    return blocks().count(pointer) != 0;
  }

 private:
  static void forget(void* pointer) {
    if (pointer == nullptr) return;
    {
      const std::lock_guard lock(mutex());
      blocks().erase(pointer);
    }
    c10::free_cpu(pointer);
  }
  static std::mutex& mutex() {
    static std::mutex instance;
    return instance;
  }
  static std::unordered_set<const void*>& blocks() {
    static auto* instance = new std::unordered_set<const void*>;  // outlives the last tensor
    return *instance;
  }
};

DeviceAllocator* device_memory() {
  static auto* instance = new DeviceAllocator;
  return instance;
}

const bool kRegistered = [] {
  c10::SetAllocator(c10::DeviceType::PrivateUse1, device_memory());
  return true;
}();

}  // namespace

c10::Allocator* device_allocator() { return device_memory(); }

c10::Allocator* pinned_allocator() {
  static auto* instance = new PinnedAllocator;
  return instance;
}

bool is_pinned(const void* pointer) { return PinnedAllocator::holds(pointer); }

}  // namespace vcuda::aten
