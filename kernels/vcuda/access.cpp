// The check behind every load and store of a kernel: the callbacks that -fsanitize=kernel-address calls, with our own
// shadow behind them. No AddressSanitizer runtime takes part, so kernels run in any process (Python's too), and a
// fault ends a grid, not the process. The names are hidden, so a real runtime in the same process keeps its own.
#include <cstring>
#include <mutex>
#include <optional>

#include "kernels/vcuda/block_fibers.h"
#include "kernels/vcuda/fault_report.h"
#include "kernels/vcuda/grid.h"
#include "kernels/vcuda/races.h"
#include "kernels/vcuda/runtime_state.h"
#include "kernels/vcuda/shadow.h"
#include "kernels/vcuda/static_arrays.h"
#include "kernels/vcuda/written.h"

namespace vcuda {
namespace {

constexpr std::size_t kVector = 16;  // bytes that the machine moves as one

Fault seen(std::uintptr_t address, std::size_t bytes, Access access) {
  return {.address = address,
          .bytes = bytes,
          .access = access,
          .place = short_kernel_name(grid.kernel),
          .thread = &current_thread_state};
}

void append_report(const Fault& fault) {
  if (grid.tool == Tool::none) return;
  const std::lock_guard held(runtime().lock);
  runner->result.report += describe_fault(grid.device, fault);
}

// Nothing with a destructor may live here: end_grid() jumps.
[[noreturn, gnu::cold, gnu::noinline]] void end_by(const Fault& fault) {
  detail::run_alone();
  append_report(fault);
  if (runner->result.failure == Error::none) runner->result.failure = fault.error;
  end_grid();
}

[[gnu::cold, gnu::noinline]] void fault(std::uintptr_t address, std::size_t bytes, Access access, Error error) {
  Fault fault = seen(address, bytes, access);
  fault.error = error;
  end_by(fault);
}

// True for what lies in one array that check_static has met.
bool is_own_shared(std::uintptr_t address, std::size_t bytes) {
  for (const shadow::Range& met : runner->own_shared) {
    if (met.holds(address) && bytes <= met.bytes - (address - met.begin)) return true;
  }
  return false;
}

// Shared memory and constants: an array holds the access, and all of it. Shared memory is the kernel's own, nobody
// writes constants, and what lies between arrays is the library's.
void check_static(std::uintptr_t address, std::size_t bytes, Access access) {
  if (is_own_shared(address, bytes)) return;
  const std::string_view kernel = short_kernel_name(grid.kernel);
  const StaticArray* const array = static_array_at(address);
  const bool inside = array != nullptr && address + bytes <= array->begin + array->bytes;
  if (inside && !array->shared && access == Access::read) return;
  if (inside && array->shared && belongs_to(*array, kernel)) {
    runner->own_shared[runner->next_shared++ % runner->own_shared.size()] = {array->begin, array->bytes};
    return;
  }
  const StaticArray* const nearest = nearest_array(address, kernel);
  Fault fault = seen(address, bytes, access);
  fault.array = nearest != nullptr ? nearest : array;
  fault.space = fault.array == nullptr || fault.array->shared ? Space::shared : Space::constant;
  end_by(fault);
}

void check_local(const LocalArrays& arrays, std::uintptr_t address, std::size_t bytes, Access access) {
  if (arrays.in_order(address, bytes)) return;
  Fault fault = seen(address, bytes, access);
  fault.space = Space::local;
  fault.distance = arrays.distance(address);
  end_by(fault);
}

void note_initialisation(std::size_t offset, std::uintptr_t address, std::size_t bytes, Access access) {
  if (access != Access::write && !grid.written->holds(offset, bytes) && !tool_has_told()) {
    const std::lock_guard held(runtime().lock);
    tell(describe_uninitialised(grid.device, seen(address, bytes, Access::read)));
  }
  if (access != Access::read) grid.written->mark(offset, bytes);
}

void tell_of(const std::optional<Races::Race>& race) {
  if (!race || tool_has_told()) return;
  const std::lock_guard held(runtime().lock);
  tell(describe_race(grid.device, *race));
}

void note_for_races(std::uintptr_t address, std::size_t bytes, Access access) {
  tell_of(races().note(address, bytes, access, runner->barriers));
}

LocalArrays& current_locals() { return grid.barriers ? block_fibers::locals() : runner->locals; }

void check_host_memory(std::uintptr_t address, std::size_t bytes, Access access) {
  const auto within = [&](const shadow::Range& range) {
    return range.holds(address) && range.holds(address + bytes - 1);
  };
  const ThreadState& thread = current_thread_state;
  if (access == Access::read && within(runner->closure)) return;
  if (within({thread.stack_begin, thread.stack_bytes})) return check_local(current_locals(), address, bytes, access);
  if (!within(shadow::reach.statics)) return fault(address, bytes, access, Error::illegal_address);
  check_static(address, bytes, access);
  if (grid.tool == Tool::racecheck) note_for_races(address, bytes, access);
}

[[gnu::noinline]] void check_slowly(std::uintptr_t address, std::size_t bytes, Access access, std::size_t alignment) {
  // A launcher's own loads and stores come here too.
  if (!in_kernel() || bytes == 0) return;
  if (address % alignment != 0) fault(address, bytes, access, Error::misaligned_address);
  const shadow::Range& arena = shadow::reach.arena;
  if (!arena.holds(address)) return check_host_memory(address, bytes, access);
  const std::size_t offset = address - arena.begin;
  const bool open =
      bytes <= arena.bytes - offset && shadow::first_bad(shadow::reach.bytes, offset, bytes) == offset + bytes;
  if (!open) fault(address, bytes, access, Error::illegal_address);
  switch (grid.tool) {
    case Tool::none:
    case Tool::memcheck:
    case Tool::synccheck: return;
    case Tool::initcheck: return note_initialisation(offset, address, bytes, access);
    case Tool::racecheck: return note_for_races(address, bytes, access);
  }
}

// The stack's padding as the compiler describes it: an eighth of an address, and a number of granules.
void mark_stack(std::uintptr_t eighth, std::size_t granules, std::uint8_t value) {
  if (!in_kernel() || grid.tool == Tool::none) return;
  const std::uintptr_t address = eighth * shadow::kGranule;
  current_locals().mark(address, granules, value);
}

// AddressSanitizer's description of a global variable.
struct GlobalVariable {
  std::uintptr_t begin;
  std::size_t bytes, with_padding;
  const char* name;
  const char* module;
  std::uintptr_t initialised_late, location, one_definition;
};

template <std::size_t kBytes>
[[gnu::always_inline]] inline void check(std::uintptr_t address, Access access) {
  if (shadow::is_plainly_fine<kBytes>(address)) [[likely]]
    return;
  check_slowly(address, kBytes, access, kBytes == 16 ? 8 : kBytes);
}

// Without a known alignment: structs, and memcpy of a few bytes.
[[gnu::noinline]] void check_range(const void* begin, std::size_t bytes, Access access) {
  check_slowly(reinterpret_cast<std::uintptr_t>(begin), bytes, access, 1);
}

// A copy's number of bytes is mostly a constant: vectors of 16 bytes then cost no call.
[[gnu::always_inline]] inline void check_copied(const void* begin, std::size_t bytes, Access access) {
  if (bytes == 16 && shadow::is_plainly_fine<16>(reinterpret_cast<std::uintptr_t>(begin))) [[likely]]
    return;
  check_range(begin, bytes, access);
}

// Whether elements in a row lie in one shared array of the kernel's own. A fault of the first one may come of it.
bool are_in_own_shared(const void* first, std::size_t element_bytes, std::int64_t count, Access access) {
  const auto address = reinterpret_cast<std::uintptr_t>(first);
  const auto many = static_cast<std::size_t>(count);
  const shadow::Range& statics = shadow::reach.statics;
  if (grid.tool == Tool::racecheck || !statics.holds(address) || many > statics.bytes) return false;
  if (address % element_bytes == 0 && is_own_shared(address, element_bytes * many)) return true;
  check_access(first, element_bytes, access);
  return is_own_shared(address, element_bytes * many);
}

}  // namespace

void finish_races() { tell_of(races().settle()); }

VCUDA_INTO_KERNELS void check_access(const void* pointer, std::size_t bytes, Access access) {
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

VCUDA_INTO_KERNELS void detail::check_joined(const void* first, std::size_t element_bytes, std::int64_t count,
                                             Access access) {
  if (count == 1) return check_access(first, element_bytes, access);
  const auto address = reinterpret_cast<std::uintptr_t>(first);
  const auto many = static_cast<std::size_t>(count);
  // A number that a kernel read may be any: the product must not overflow.
  const bool fits = many <= shadow::reach.arena.bytes && address % element_bytes == 0;
  if (count == 0 || (fits && shadow::are_plainly_fine(address, element_bytes * many))) [[likely]]
    return;
  check_in_turn(first, element_bytes, count, access);
}

VCUDA_INTO_KERNELS bool detail::are_plainly_fine(const void* first, std::size_t bytes) {
  return shadow::are_plainly_fine(reinterpret_cast<std::uintptr_t>(first), bytes);
}

VCUDA_INTO_KERNELS bool detail::once_a_grid(bool (*look)(const void* closure), const void* closure) {
  std::optional<bool>& fine = runner->arrays_fine;
  if (!fine) [[unlikely]]
    fine = !current_thread_state.alone && look(closure);
  return *fine;
}

void detail::check_in_turn(const void* first, std::size_t element_bytes, std::int64_t count, Access access) {
  if (are_in_own_shared(first, element_bytes, count, access)) return;
  run_alone();
  // A difference of two such numbers may be negative although the kernel has compared them: it stands for very many.
  const char* at = static_cast<const char*>(first);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i, at += element_bytes)
    check_access(at, element_bytes, access);
}

// Short rows are many: a call costs as much as their copy.
VCUDA_INTO_KERNELS void detail::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes % kVector != 0 || bytes > 16 * kVector) {
    std::memcpy(to, from, bytes);
    return;
  }
  auto* const out = static_cast<std::byte*>(to);
  const auto* const in = static_cast<const std::byte*>(from);
#pragma clang loop unroll(disable)
  for (std::size_t at = 0; at < bytes; at += kVector) std::memcpy(out + at, in + at, kVector);
}

}  // namespace vcuda

using vcuda::Access;

#define VCUDA_CHECKS(BYTES)                                                       \
  VCUDA_INTO_KERNELS void __asan_load##BYTES##_noabort(std::uintptr_t address) {  \
    vcuda::check<BYTES>(address, Access::read);                                   \
  }                                                                               \
  VCUDA_INTO_KERNELS void __asan_store##BYTES##_noabort(std::uintptr_t address) { \
    vcuda::check<BYTES>(address, Access::write);                                  \
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

VCUDA_INTO_KERNELS void* __asan_memcpy(void* to, const void* from, std::size_t bytes) {
  vcuda::check_copied(from, bytes, Access::read);
  vcuda::check_copied(to, bytes, Access::write);
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

// Called before a function that does not return (fail). The end of a thread undoes what its frames have marked.
VCUDA_KERNEL_SIDE void __asan_handle_no_return() {}

#define VCUDA_STACK(NAME, VALUE)                                                                 \
  VCUDA_KERNEL_SIDE void __asan_set_shadow_##NAME(std::uintptr_t eighth, std::size_t granules) { \
    vcuda::mark_stack(eighth, granules, VALUE);                                                  \
  }
VCUDA_STACK(00, 0)
VCUDA_STACK(01, 1)
VCUDA_STACK(02, 2)
VCUDA_STACK(03, 3)
VCUDA_STACK(04, 4)
VCUDA_STACK(05, 5)
VCUDA_STACK(06, 6)
VCUDA_STACK(07, 7)
VCUDA_STACK(f1, 0xf1)
VCUDA_STACK(f2, 0xf2)
VCUDA_STACK(f3, 0xf3)
VCUDA_STACK(f5, 0xf5)
VCUDA_STACK(f8, 0xf8)

VCUDA_KERNEL_SIDE void __asan_register_globals(const vcuda::GlobalVariable* first, std::size_t count) {
  for (const vcuda::GlobalVariable* at = first; at != first + count; ++at) {
    vcuda::add_static_array({at->begin, at->bytes, at->with_padding, at->name, false});
  }
}

VCUDA_KERNEL_SIDE void __asan_unregister_globals(const vcuda::GlobalVariable* first, std::size_t count) {
  for (const vcuda::GlobalVariable* at = first; at != first + count; ++at) vcuda::remove_static_array(at->begin);
}

}  // extern "C"
