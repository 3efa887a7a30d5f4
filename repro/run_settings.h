// How a child runs: its device, its environment and its limits. These decide the child's environment completely;
// switches such as CUDA_LAUNCH_BLOCKING are read once by a process, so another setting is another process.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repro/result.h"

namespace dsafuzz {

struct Device {
  enum class Kind : std::uint8_t { cpu, vcuda, cuda };
  Kind kind = Kind::vcuda;
  int index = 0;
  bool own_kernels = false;  // of cuda: dsafuzz's kernels, compiled by nvcc, in the place of ATen's
  friend bool operator==(const Device&, const Device&) = default;
  std::string text() const;  // "cpu", "vcuda", "vcuda:1", "cuda:0", "cuda:0:own"
};
Result<Device> parse_device(std::string_view text);  // "cuda" is cuda:0
// With commas between; none in an empty text. `example` says what --devices may be where one is no device.
Result<std::vector<Device>> parse_devices(std::string_view list, const char* example);

// What watches the kernels of the virtual device, as compute-sanitizer's tools of the same names do on a GPU.
enum class Tool : std::uint8_t { none, memcheck, initcheck, racecheck, synccheck };
std::string_view to_text(Tool tool);
std::optional<Tool> parse_tool(std::string_view text);
inline constexpr const char* kToolWords = "none, memcheck, initcheck, racecheck or synccheck";

struct RunSettings {
  Device device;
  std::optional<Tool> tool;  // empty: the scenario's where there is one, else memcheck
  bool blocking = false;     // CUDA_LAUNCH_BLOCKING=1: the failing call itself reports
  bool cpp_stacks = false;   // TORCH_SHOW_CPP_STACKTRACES=1
  bool dsa = false;          // PYTORCH_USE_CUDA_DSA=1: a PyTorch built with TORCH_USE_CUDA_DSA records asserts itself
  std::string core_dump;     // the file for a GPU core dump when a kernel fails; empty: none
  bool caching = false;      // the caching allocator, which hides faults; exact allocations otherwise
  std::chrono::milliseconds time_limit{10'000};         // for one case
  std::chrono::milliseconds start_limit{120'000};       // for a worker to be ready
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;  // address space beyond what LibTorch takes at start
  std::uint64_t output_bytes = std::uint64_t{1} << 20;  // printed by one case; more is cut
  std::string modules;  // the folder of TorchScript files that module steps name; empty: none
  friend bool operator==(const RunSettings&, const RunSettings&) = default;
};

// The child's whole environment, as "NAME=value", sorted; `inherited` is where PATH, HOME and LD_LIBRARY_PATH come
// from.
std::vector<std::string> environment_of(const RunSettings& settings, const char* const* inherited);

}  // namespace dsafuzz
