// Devices, launches and errors: the runtime's tables and what moves them. See context.h and runtime.h.
#include "kernels/vcuda/context.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "kernels/vcuda/races.h"
#include "kernels/vcuda/runtime_state.h"

namespace vcuda {
namespace {

// Fixed, so that two runs print the same addresses; far from where Linux puts programs, libraries and stacks.
constexpr std::uintptr_t kArenaBase = 0x700000000000;
constexpr std::uintptr_t kShadowBase = 0x6f0000000000;
constexpr std::uintptr_t kWrittenBase = 0x6e0000000000;
// Address space for red zones and quarantine above what the limit counts.
constexpr std::size_t kExtraSpan = 256ull << 20;

std::atomic<std::uint64_t> resets = 0;

template <typename Number>
void read_number(const char* name, Number low, Number high, Number& out) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return;
  Number value{};
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error == std::errc() && stop == end && value >= low && value <= high) {
    out = value;
  } else {
    std::fprintf(stderr, "vcuda: %s=%s is ignored: a number in [%s, %s] is expected\n", name, text,
                 std::to_string(low).c_str(), std::to_string(high).c_str());
  }
}

bool is_on(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr && std::strcmp(text, "1") == 0;
}

constexpr std::array<std::pair<const char*, Tool>, 5> kTools{{{"none", Tool::none},
                                                              {"memcheck", Tool::memcheck},
                                                              {"initcheck", Tool::initcheck},
                                                              {"racecheck", Tool::racecheck},
                                                              {"synccheck", Tool::synccheck}}};

void read_tool(const char* name, Tool& out) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return;
  const auto found = std::ranges::find_if(kTools, [&](const auto& tool) { return std::strcmp(tool.first, text) == 0; });
  if (found != kTools.end()) {
    out = found->second;
  } else {
    std::fprintf(stderr, "vcuda: %s=%s is ignored: none, memcheck, initcheck, racecheck or synccheck is expected\n",
                 name, text);
  }
}

Options read_options() {
  Options out;
  read_tool("DSAFUZZ_VCUDA_TOOL", out.tool);
  read_number("DSAFUZZ_VCUDA_DEVICES", 1, kMostDevices, out.devices);
  read_number("DSAFUZZ_VCUDA_MEMORY", std::size_t{1} << 20, std::size_t{1} << 40, out.memory_bytes);
  out.blocking = is_on("CUDA_LAUNCH_BLOCKING");
  out.caching = is_on("DSAFUZZ_VCUDA_CACHING");
  return out;
}

std::uintptr_t reserve(std::uintptr_t wanted, std::size_t bytes) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* at = mmap(reinterpret_cast<void*>(wanted), bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, -1, 0);
  // Taken: any other place works too, only the printed addresses differ.
  if (at == MAP_FAILED) at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (at == MAP_FAILED) {
    std::perror("vcuda: no address space for the devices' memory");
    std::abort();
  }
  // A core file of untouched gigabytes helps nobody.
  madvise(at, bytes, MADV_DONTDUMP);
  return reinterpret_cast<std::uintptr_t>(at);
}

std::vector<Device> make_devices() {
  const auto count = static_cast<std::size_t>(std::clamp(options().devices, 1, kMostDevices));
  const std::size_t span = std::bit_ceil(2 * options().memory_bytes + kExtraSpan);
  const std::uintptr_t base = reserve(kArenaBase, count * span);
  auto* const shadow = reinterpret_cast<std::uint8_t*>(reserve(kShadowBase, count * span / shadow::kGranule));
  auto* const written = reinterpret_cast<std::uint8_t*>(reserve(kWrittenBase, count * span / shadow::kGranule));
  std::vector<Device> out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t granules = i * span / shadow::kGranule;
    out.emplace_back(Arena(base + i * span, span, shadow + granules, written + granules, options().memory_bytes));
  }
  return out;
}

}  // namespace

Options& options() {
  static Options only = read_options();
  return only;
}

Runtime& runtime() {
  static Runtime only{.lock = {}, .devices = make_devices(), .order = {}};
  return only;
}

HostThread& host_thread() {
  thread_local HostThread own;
  thread_local std::uint64_t seen = 0;
  if (const std::uint64_t now = resets.load(std::memory_order_relaxed); seen != now) {
    own = {};
    seen = now;
  }
  return own;
}

Device* device_holding(std::uintptr_t address) {
  for (Device& device : runtime().devices) {
    if (device.arena.range().holds(address)) return &device;
  }
  return nullptr;
}

namespace {
thread_local const char* place = "";
}  // namespace

void set_place(std::string_view text) {
  if (text == place) return;
  static std::set<std::string, std::less<>> known;
  const std::lock_guard held(runtime().lock);
  auto found = known.find(text);
  if (found == known.end()) found = known.emplace(text).first;
  place = found->c_str();
}

const char* current_place() { return place; }

int device_count() { return static_cast<int>(runtime().devices.size()); }

int current_device() { return host_thread().device; }

Error set_device(int device) {
  if (!is_device(device)) return Error::invalid_device;
  host_thread().device = device;
  return Error::none;
}

LaunchTarget begin_launch(Stream stream, Error invalid) {
  HostThread& host = host_thread();
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  const int number = stream == 0 ? host.device : device_of(stream);
  const bool exists =
      stream == 0 || (is_device(number) && all.devices[static_cast<std::size_t>(number)].streams.contains(stream));
  host.launched_on = exists ? number : host.device;
  Device& device = all.devices[static_cast<std::size_t>(host.launched_on)];
  device.launches += 1;
  if (device.failure != Error::none) return {};
  if (!exists) invalid = Error::invalid_resource_handle;
  if (invalid != Error::none) {
    device.last = invalid;
    return {};
  }
  LaunchTarget target{.runs = true,
                      .device = host.launched_on,
                      .arena = device.arena.range(),
                      .shadow = device.arena.shadow(),
                      .number = device.launches,
                      .written = &device.arena.written(),
                      .stream = 0,
                      .clock = 0,
                      .known = {}};
  if (options().tool == Tool::racecheck) {
    target.stream = global_stream(stream, host.launched_on);
    target.clock = all.order.add(target.stream);
    target.known = all.order.known(target.stream);
  }
  return target;
}

void record_failure(int device, std::uint64_t launch, Error failure) {
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  Device& poisoned = all.devices[static_cast<std::size_t>(device)];
  if (poisoned.failure != Error::none) return;
  poisoned.failure = failure;
  poisoned.failed_launch = launch;
}

Error synchronize() {
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  all.order.wait_on_host();
  return all.devices[static_cast<std::size_t>(current_device())].failure;
}

Error peek_error() {
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  const Device& device = all.devices[static_cast<std::size_t>(current_device())];
  return device.failure != Error::none ? device.failure : device.last;
}

Error get_error() {
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  Device& device = all.devices[static_cast<std::size_t>(current_device())];
  const Error last = std::exchange(device.last, Error::none);
  return device.failure != Error::none ? device.failure : last;
}

Error check_launch() {
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  Device& device = all.devices[static_cast<std::size_t>(host_thread().launched_on)];
  const Error last = std::exchange(device.last, Error::none);
  const bool known = options().blocking || device.failed_launch != device.launches;
  return device.failure != Error::none && known ? device.failure : last;
}

void reset_contexts() {
  Runtime& all = runtime();
  const std::lock_guard held(all.lock);
  for (Device& device : all.devices) {
    device.arena.reset();
    device.launches = device.failed_launch = 0;
    device.failure = device.last = Error::none;
    device.streams.clear();
    device.streams_made = 0;
  }
  all.order.reset();
  races().reset();
  resets.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace vcuda
