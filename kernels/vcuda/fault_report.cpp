// See fault_report.h.
#include "kernels/vcuda/fault_report.h"

#include "kernels/vcuda/runtime_state.h"

namespace vcuda {
namespace {

constexpr std::string_view kLine = "=========     ";
constexpr std::string_view kEnd = "=========\n";

std::string_view word(Access access) {
  switch (access) {
    case Access::read: return "read";
    case Access::write: return "write";
    case Access::atomic: return "atomic";
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

// "12 bytes after": after the last byte the first is 1, before the first byte the first is 1.
std::string where(std::uintptr_t address, const FoundBlock& found) {
  const std::uintptr_t end = found.base + found.block.bytes;
  if (address < found.base) return std::to_string(found.base - address) + " bytes before";
  if (address >= end) return std::to_string(address - end + 1) + " bytes after";
  return "inside";
}

std::string describe_block(std::uintptr_t address, const FoundBlock& found) {
  const Block& block = found.block;
  std::string out;
  out.append(kLine).append("and is ").append(where(address, found)).append(" the nearest allocation at ");
  out.append(hex(found.base)).append(" of size ").append(std::to_string(block.bytes)).append(" bytes\n");
  out.append(kLine).append("Allocation ").append(std::to_string(block.ordinal)).append(" was made after launch ");
  out.append(std::to_string(block.launches_at_allocation));
  if (block.state != BlockState::live) {
    out.append(" and freed after launch ").append(std::to_string(block.launches_at_free));
  }
  return out.append("\n");
}

}  // namespace

std::string describe_fault(int device, const Fault& fault) {
  const Device* const holder = device_holding(fault.address);
  const Device& own = runtime().devices[static_cast<std::size_t>(device)];
  const FoundBlock found = (holder ? *holder : own).arena.nearest(fault.address);
  const bool freed = found.base != 0 && found.block.state == BlockState::quarantined && fault.address >= found.base &&
                     fault.address < found.base + found.block.bytes;

  std::string out = "========= Invalid __global__ ";
  out.append(word(fault.access)).append(" of size ").append(std::to_string(fault.bytes)).append(" bytes\n");
  out.append(kLine).append("at ").append(fault.place).append("\n");
  if (fault.thread != nullptr) {
    out.append(kLine).append("by thread ").append(position(fault.thread->thread)).append(" in block ");
    out.append(position(fault.thread->block)).append("\n");
  }
  if (fault.error == Error::misaligned_address) {
    out.append(kLine).append("Address ").append(hex(fault.address)).append(" is misaligned\n");
  } else if (freed) {
    out.append(kLine)
        .append("Access to ")
        .append(hex(fault.address))
        .append(" is potentially made after memory is freed\n");
  } else {
    out.append(kLine).append("Address ").append(hex(fault.address)).append(" is out of bounds\n");
  }
  if (found.base != 0) out.append(describe_block(fault.address, found));
  if (holder != nullptr && holder != &own) {
    const auto owner = holder - runtime().devices.data();
    out.append(kLine)
        .append("It is memory of device ")
        .append(std::to_string(owner))
        .append(", and the access was made by device ");
    out.append(std::to_string(device)).append("\n");
  }
  return out.append(kEnd);
}

std::string describe_bad_free(std::uintptr_t address, bool twice) {
  std::string out = "========= Malloc/Free error encountered : ";
  out.append(twice ? "Double free" : "Invalid pointer to free").append("\n");
  out.append(kLine).append("Address ").append(hex(address)).append("\n");
  return out.append(kEnd);
}

}  // namespace vcuda
