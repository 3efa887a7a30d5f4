// The check behind every load and store of a kernel: the callbacks that -fsanitize=kernel-address calls, with our own
// shadow behind them. No AddressSanitizer runtime takes part, so kernels run in any process (Python's too), and a
// fault ends a grid, not the process. The names are hidden, so a real runtime in the same process keeps its own.
#include <cstring>
#include <mutex>

#include "kernels/vcuda/fault_report.h"
#include "kernels/vcuda/grid.h"
#include "kernels/vcuda/runtime_state.h"
#include "kernels/vcuda/shadow.h"

namespace vcuda {
namespace {

void append_report(std::uintptr_t address, std::size_t bytes, Access access, Error error) {
  const std::lock_guard held(runtime().lock);
  grid.printed += describe_fault(grid.device, {.address = address,
                                               .bytes = bytes,
                                               .access = access,
                                               .error = error,
                                               .place = short_kernel_name(grid.kernel),
                                               .thread = &current_thread_state});
}

// Nothing with a destructor may live here: end_grid() jumps.
[[noreturn, gnu::cold, gnu::noinline]] void fault(std::uintptr_t address, std::size_t bytes, Access access,
                                                  Error error) {
  append_report(address, bytes, access, error);
  if (grid.failure == Error::none) grid.failure = error;
  end_grid();
}

bool is_host_memory(std::uintptr_t address, std::size_t bytes) {
  for (const shadow::Range& range : {shadow::reach.stack, shadow::reach.statics, shadow::reach.fibers}) {
    if (range.holds(address) && range.holds(address + bytes - 1)) return true;
  }
  return false;
}

[[gnu::noinline]] void check_slowly(std::uintptr_t address, std::size_t bytes, Access access, std::size_t alignment) {
  // A launcher's own loads and stores come here too.
  if (!in_kernel() || bytes == 0) return;
  if (address % alignment != 0) fault(address, bytes, access, Error::misaligned_address);
  const shadow::Range& arena = shadow::reach.arena;
  if (arena.holds(address)) {
    const std::size_t offset = address - arena.begin;
    if (bytes <= arena.bytes - offset && shadow::first_bad(shadow::reach.bytes, offset, bytes) == offset + bytes)
      return;
  } else if (is_host_memory(address, bytes)) {
    return;
  }
  fault(address, bytes, access, Error::illegal_address);
}

template <std::size_t kBytes>
[[gnu::always_inline]] inline void check(std::uintptr_t address, Access access) {
  if (shadow::is_plainly_fine<kBytes>(address)) [[likely]]
    return;
  check_slowly(address, kBytes, access, kBytes == 16 ? 8 : kBytes);
}

// Without a known alignment: structs, and memcpy of a few bytes.
void check_range(const void* begin, std::size_t bytes, Access access) {
  check_slowly(reinterpret_cast<std::uintptr_t>(begin), bytes, access, 1);
}

}  // namespace

VCUDA_KERNEL_SIDE void check_access(const void* pointer, std::size_t bytes, Access access) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  switch (bytes) {
    case 1: return check<1>(address, access);
    case 2: return check<2>(address, access);
    case 4: return check<4>(address, access);
    case 8: return check<8>(address, access);
    case 16: return check_slowly(address, 16, access, 16);
    default: return check_slowly(address, bytes, access, 1);
  }
}

}  // namespace vcuda

using vcuda::Access;

#define VCUDA_CHECKS(BYTES)                                                      \
  VCUDA_KERNEL_SIDE void __asan_load##BYTES##_noabort(std::uintptr_t address) {  \
    vcuda::check<BYTES>(address, Access::read);                                  \
  }                                                                              \
  VCUDA_KERNEL_SIDE void __asan_store##BYTES##_noabort(std::uintptr_t address) { \
    vcuda::check<BYTES>(address, Access::write);                                 \
  }

#pragma clang diagnostic ignored "-Wreserved-identifier"
extern "C" {

VCUDA_CHECKS(1)
VCUDA_CHECKS(2)
VCUDA_CHECKS(4)
VCUDA_CHECKS(8)
VCUDA_CHECKS(16)

VCUDA_KERNEL_SIDE void __asan_loadN_noabort(const void* address, std::size_t bytes) {
  vcuda::check_range(address, bytes, Access::read);
}

VCUDA_KERNEL_SIDE void __asan_storeN_noabort(const void* address, std::size_t bytes) {
  vcuda::check_range(address, bytes, Access::write);
}

VCUDA_KERNEL_SIDE void* __asan_memcpy(void* to, const void* from, std::size_t bytes) {
  vcuda::check_range(from, bytes, Access::read);
  vcuda::check_range(to, bytes, Access::write);
  return std::memcpy(to, from, bytes);
}

VCUDA_KERNEL_SIDE void* __asan_memmove(void* to, const void* from, std::size_t bytes) {
  vcuda::check_range(from, bytes, Access::read);
  vcuda::check_range(to, bytes, Access::write);
  return std::memmove(to, from, bytes);
}

VCUDA_KERNEL_SIDE void* __asan_memset(void* to, int byte, std::size_t bytes) {
  vcuda::check_range(to, bytes, Access::write);
  return std::memset(to, byte, bytes);
}

// Called before a function that does not return (fail). Stacks are not poisoned here, so nothing is to be undone.
VCUDA_KERNEL_SIDE void __asan_handle_no_return() {}

}  // extern "C"
