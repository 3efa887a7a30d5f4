// See fault_report.h.
#include "kernels/vcuda/fault_report.h"

#include <cstdlib>

#include "kernels/vcuda/grid.h"
#include "kernels/vcuda/runtime_state.h"

namespace vcuda {
namespace {

constexpr std::string_view kEnd = "=========\n";

template <typename... Parts>
void add_line(std::string& out, const Parts&... parts) {
  out.append("=========     ");
  (out.append(parts), ...);
  out.append("\n");
}

std::string_view word(Access access) {
  switch (access) {
    case Access::read: return "read";
    case Access::write: return "write";
    case Access::atomic: return "atomic";
  }
  return "?";
}

std::string_view capital_word(Access access) {
  switch (access) {
    case Access::read: return "Read";
    case Access::write: return "Write";
    case Access::atomic: return "Atomic";
  }
  return "?";
}

std::string_view word(Space space) {
  switch (space) {
    case Space::global: return "__global__";
    case Space::shared: return "__shared__";
    case Space::constant: return "__constant__";
    case Space::local: return "__local__";
  }
  return "?";
}

std::string position(const Dim3& at) {
  return "(" + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z) + ")";
}

std::string hex(std::uintptr_t address) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  do {
    out.insert(out.begin(), kDigits[address % 16]);
    address /= 16;
  } while (address != 0);
  return "0x" + out;
}

void add_thread(std::string& out, const Dim3& thread, const Dim3& block) {
  add_line(out, "by thread ", position(thread), " in block ", position(block));
}

// "and is 12 bytes after the nearest allocation at 0x.. of size 16 bytes": after the last byte the first is 1, before
// the first byte the first is 1.
void add_place_of(std::string& out, std::uintptr_t address, std::uintptr_t base, std::size_t bytes) {
  const std::uintptr_t end = base + bytes;
  const std::string where = address < base   ? std::to_string(base - address) + " bytes before"
                            : address >= end ? std::to_string(address - end + 1) + " bytes after"
                                             : "inside";
  add_line(out, "and is ", where, " the nearest allocation at ", hex(base), " of size ", std::to_string(bytes),
           " bytes");
}

std::string in_place(const char* place) { return *place == '\0' ? "" : std::string(" (") + place + ")"; }

void add_history(std::string& out, const Block& block) {
  std::string freed;
  if (block.state == BlockState::quarantined || block.state == BlockState::cached) {
    freed = " and freed after launch " + std::to_string(block.launches_at_free) + in_place(block.place_of_free);
  }
  add_line(out, "Allocation ", std::to_string(block.ordinal), " was made after launch ",
           std::to_string(block.launches_at_allocation), in_place(block.place_of_allocation), freed);
}

void add_block(std::string& out, std::uintptr_t address, const FoundBlock& found) {
  if (found.base == 0) return;
  add_place_of(out, address, found.base, found.block.bytes);
  add_history(out, found.block);
}

Device& device_number(int device) { return runtime().devices[static_cast<std::size_t>(device)]; }

// The allocation nearest to an address of any device, else of `own`.
FoundBlock nearest_block(std::uintptr_t address, const Device& own) {
  const Device* const holder = device_holding(address);
  return (holder ? *holder : own).arena.nearest(address);
}

// Where in shared or constant memory. The array's name says its kernel too.
void add_array(std::string& out, std::uintptr_t address, const StaticArray& array) {
  add_place_of(out, address, array.begin, array.bytes);
  add_line(out, "It is the array ", array.name);
}

void add_global_place(std::string& out, int device, const Fault& fault) {
  const Device* const holder = device_holding(fault.address);
  const Device& own = device_number(device);
  const FoundBlock found = nearest_block(fault.address, own);
  const bool freed = found.base != 0 && found.block.state == BlockState::quarantined && fault.address >= found.base &&
                     fault.address < found.base + found.block.bytes;
  if (fault.error == Error::misaligned_address) {
    add_line(out, "Address ", hex(fault.address), " is misaligned");
  } else if (freed) {
    add_line(out, "Access to ", hex(fault.address), " is potentially made after memory is freed");
  } else {
    add_line(out, "Address ", hex(fault.address), " is out of bounds");
  }
  add_block(out, fault.address, found);
  if (holder != nullptr && holder != &own) {
    const auto owner = holder - runtime().devices.data();
    add_line(out, "It is memory of device ", std::to_string(owner), ", and the access was made by device ",
             std::to_string(device));
  }
}

}  // namespace

std::string describe_fault(int device, const Fault& fault) {
  std::string out = "========= Invalid ";
  out.append(word(fault.space)).append(" ").append(word(fault.access));
  out.append(" of size ").append(std::to_string(fault.bytes)).append(" bytes\n");
  add_line(out, "at ", fault.place);
  if (fault.thread != nullptr) add_thread(out, fault.thread->thread, fault.thread->block);
  if (fault.space == Space::global) {
    add_global_place(out, device, fault);
  } else {
    add_line(out, "Address ", hex(fault.address), " is out of bounds");
    if (fault.array != nullptr) add_array(out, fault.address, *fault.array);
    if (fault.distance != 0) {
      add_line(out, "and is ", std::to_string(std::abs(fault.distance)), " bytes ",
               fault.distance > 0 ? "after" : "before", " the nearest allocation on the thread's stack");
    }
  }
  return out.append(kEnd);
}

std::string describe_uninitialised(int device, const Fault& fault) {
  std::string out =
      "========= Uninitialized __global__ memory read of size " + std::to_string(fault.bytes) + " bytes\n";
  add_line(out, "at ", fault.place);
  if (fault.thread != nullptr) add_thread(out, fault.thread->thread, fault.thread->block);
  add_line(out, "Address ", hex(fault.address));
  add_block(out, fault.address, nearest_block(fault.address, device_number(device)));
  return out.append(kEnd);
}

std::string describe_bad_free(std::uintptr_t address, bool twice, const FoundBlock& block) {
  std::string out = "========= Malloc/Free error encountered : ";
  out.append(twice ? "Double free" : "Invalid pointer to free").append("\n");
  add_line(out, "Address ", hex(address));
  add_block(out, address, block);
  return out.append(kEnd);
}

std::string describe_race(int device, const Races::Race& race) {
  const Races::Actor &now = race.now, &before = race.before;
  std::string out = "========= Error: Race reported between ";
  out.append(capital_word(before.access)).append(" access at ").append(short_kernel_name(before.kernel)).append("\n");
  add_line(out, "and ", capital_word(now.access), " access at ", short_kernel_name(now.kernel), " [1 hazard]");
  add_thread(out, now.thread, now.block);
  add_line(out, "and thread ", position(before.thread), " in block ", position(before.block));
  if (race.in_streams) {
    add_line(out, "in streams ", std::to_string(before.stream), " and ", std::to_string(now.stream),
             " without an event between them");
  }
  const StaticArray* const array = static_array_at(race.address);
  add_line(out, "Address ", hex(race.address), " in ", array ? "__shared__" : "__global__", " memory, ",
           std::to_string(race.bytes), " bytes");
  if (array != nullptr) {
    add_array(out, race.address, *array);
  } else {
    add_block(out, race.address, nearest_block(race.address, device_number(device)));
  }
  return out.append(kEnd);
}

std::string describe_divergence(const ThreadState& thread) {
  std::string out = "========= Barrier error detected. Divergent thread(s) in block\n";
  add_line(out, "at ", short_kernel_name(grid.kernel));
  add_thread(out, thread.thread, thread.block);
  return out.append(kEnd);
}

}  // namespace vcuda
