// The virtual device's host interface: devices, contexts, memory, streams and errors, in the shape of the CUDA
// runtime. It knows nothing of LibTorch.
//
// Errors are asynchronous and sticky, as on a GPU: a kernel's failure is recorded when it runs and returned by
// the next call that uses the device, and by every such call after it, until reset_contexts(). With blocking launches
// (CUDA_LAUNCH_BLOCKING=1, or Options::blocking) the launching call returns it itself: launchers call check_launch().
// Calls that only choose or count (set_device, streams) do not use the device; nor does the caching allocator when a
// freed block serves the request.
//
// Thread safety: every function may be called from any host thread; one lock guards the runtime's tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/vcuda/launch.h"

namespace vcuda {

// CUDA's numbers, so that messages and exit paths agree with a GPU's.
enum class Error : int {
  none = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_configuration = 9,
  invalid_device = 101,
  invalid_resource_handle = 400,
  illegal_address = 700,
  assert_triggered = 710,
  misaligned_address = 716,
  launch_failure = 719,
};
const char* error_name(Error error);  // "cudaErrorAssert"
const char* error_text(Error error);  // "device-side assert triggered"
bool is_sticky(Error error);

// What watches the kernels, as compute-sanitizer's tools of the same names do: each also does what memcheck does.
// - memcheck: accesses outside allocations and arrays, use after free, misaligned addresses.
// - initcheck: also reads of device memory that no kernel, copy or fill has written.
// - racecheck: also two threads, or two streams, that touch the same bytes with nothing between them that orders it.
// - synccheck: also barriers that not all threads of a block reach.
// - none: as a program runs without any tool: memory is cached and handed out in pages, faults inside pages go unseen,
//   and of the rest only the error is told.
// What the last three find does not stop the grid; the context is poisoned with launch_failure when it ends, so that no
// program can pass over it.
enum class Tool : std::uint8_t { none, memcheck, initcheck, racecheck, synccheck };

// Read once from the environment at first use. `devices` and the arena for `memory_bytes` are fixed by the first call
// of any other function; the rest may be changed at any time.
struct Options {
  int devices = 2;                        // DSAFUZZ_VCUDA_DEVICES, 1 to 16
  std::size_t memory_bytes = 1ull << 30;  // DSAFUZZ_VCUDA_MEMORY, for each device
  bool blocking = false;                  // CUDA_LAUNCH_BLOCKING=1
  Tool tool = Tool::memcheck;  // DSAFUZZ_VCUDA_TOOL=none, memcheck, ...; memory made before keeps the old one
  bool caching = false;        // DSAFUZZ_VCUDA_CACHING=1: a caching allocator, which hides faults as the real one does
  std::size_t printed_bytes = 1ull << 20;  // the assert lines a grid prints at most, as CUDA's buffer bounds them
};
Options& options();

int device_count();
int current_device();
Error set_device(int device);

// Device memory. `*out` is 512-byte aligned, surrounded by red zones, and null for zero bytes or on error.
Error allocate(void** out, std::size_t bytes, Stream stream = 0);
// Freed memory stays poisoned in quarantine until 16 MiB (or a quarter of the device's memory) were freed after it.
// A pointer of an earlier context (see reset_contexts) is ignored; a double free or a foreign pointer is
// invalid_value and is reported on stderr in compute-sanitizer's shape.
Error deallocate(void* pointer);
void empty_cache();

// The allocation that holds `address`, for tests and diagnosis: base null when there is none.
struct AllocationInfo {
  const void* base = nullptr;
  std::size_t bytes = 0;
  int device = -1;
  bool freed = false;
};
AllocationInfo find_allocation(const void* address);
bool is_device_pointer(const void* address);  // anywhere in a device's arena, live or not

struct MemoryStats {
  std::size_t live_bytes = 0, peak_bytes = 0, live_allocations = 0, total_allocations = 0;
};
MemoryStats memory_stats(int device);

// Checked copies; either side may be host memory. They synchronise, so they return pending errors.
// An illegal device range is illegal_address, reported and sticky.
Error copy(void* to, const void* from, std::size_t bytes);
Error fill(void* to, int byte, std::size_t bytes);

Error synchronize();  // the current device; returns its pending or sticky error
Error peek_error();   // what the next call would return, without consuming a non-sticky error
Error get_error();    // cudaGetLastError: consumes a non-sticky error
// After a launch, for its device: the launch's own error, or a failure known before it. What the launched kernel itself
// did shows only when launches block.
Error check_launch();

Stream create_stream(int device);
void destroy_stream(Stream stream);
// The current device and streams belong to the calling host thread, as CUDA's and PyTorch's do.
Stream current_stream(int device);
void set_current_stream(int device, Stream stream);
int stream_device(Stream stream);
bool stream_exists(Stream stream);

// Work put on a stream after wait_event comes after all work that its stream had when the event was recorded. Streams
// are in order by themselves here, so only racecheck asks. An event that was never recorded orders nothing.
using Event = std::uint64_t;
Event record_event(Stream stream);
void wait_event(Stream stream, Event event);

// What the calling host thread does from now on, for reports: memory that it allocates or frees is said to be allocated
// or freed there. Empty: nothing is said. Kept through resets.
void set_place(std::string_view place);

// Destroys all contexts and makes them anew: errors are forgotten, all device memory is gone (pointers of before
// are ignored by deallocate, and none of their addresses is handed out while they may still come), memory reads as
// zero, streams and current devices are as at start. Microseconds. Requires: no kernel is running.
void reset_contexts();

}  // namespace vcuda
