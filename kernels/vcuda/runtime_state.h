// The runtime's tables: one for each device, and what belongs to a host thread. Everything in `Runtime` is guarded by
// its lock.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include "kernels/vcuda/memory.h"
#include "kernels/vcuda/runtime.h"
#include "kernels/vcuda/stream_order.h"

namespace vcuda {

inline constexpr int kMostDevices = 16;
// A failure that no launch caused, so that check_launch() never takes it for the latest launch's own.
inline constexpr std::uint64_t kNoLaunch = UINT64_MAX;

struct Device {
  explicit Device(Arena memory) : arena(std::move(memory)) {}

  Arena arena;
  std::uint64_t launches = 0;       // tried, in this context
  Error failure = Error::none;      // sticky: the context is poisoned
  std::uint64_t failed_launch = 0;  // the launch that failed
  Error last = Error::none;         // not sticky: of the latest launch that was refused
  std::set<Stream> streams;         // besides the default one
  int streams_made = 0;
};

struct Runtime {
  std::mutex lock;
  std::vector<Device> devices;
  StreamOrder order;
};

// Made at the first call: reserves the devices' address space.
Runtime& runtime();

struct HostThread {
  int device = 0;
  int launched_on = 0;  // the device of its latest launch
  std::array<Stream, kMostDevices> streams{};
};
// The calling thread's; as at start after a reset.
HostThread& host_thread();

// Null when no arena holds `address`. Requires: the lock is held.
Device* device_holding(std::uintptr_t address);

inline bool is_device(int number) { return number >= 0 && number < device_count(); }

}  // namespace vcuda
