#include "repro/device_code.h"

#include <cstring>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

constexpr std::string_view kMagic{"\x50\xed\x55\xba", 4};
constexpr std::uint16_t kPtx = 1, kMachineCode = 2;

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// A record: magic, version (2 bytes), header's size (2), size of all entries (8). An entry: kind (2), 2 unused bytes,
// header's size (4), size (8), and the size that it has compressed (4), which is 0 if it is not.
struct Found {
  bool machine_code = false, ptx = false, compressed = false, asserts = false;
};

void look_in(std::string_view entries, Found& found) {
  constexpr std::size_t kLeast = 20;
  while (entries.size() >= kLeast) {
    const auto kind = number_at<std::uint16_t>(entries, 0);
    const auto header = number_at<std::uint32_t>(entries, 4);
    const auto size = number_at<std::uint64_t>(entries, 8);
    if (header < kLeast || header > entries.size() || size > entries.size() - header) return;
    if (kind == kMachineCode || kind == kPtx) {
      (kind == kPtx ? found.ptx : found.machine_code) = true;
      if (number_at<std::uint32_t>(entries, 16) != 0) {
        found.compressed = found.compressed || kind == kMachineCode;
      } else {
        found.asserts = found.asserts || contains(entries.substr(header, size), "__assertfail");
      }
    }
    entries.remove_prefix(header + size);
  }
}

}  // namespace

DeviceAsserts device_asserts_in(std::string_view bytes) {
  Found found;
  for (std::size_t at = 0; (at = bytes.find(kMagic, at)) != std::string_view::npos; at += kMagic.size()) {
    const auto header = number_at<std::uint16_t>(bytes, at + 6);
    const auto size = number_at<std::uint64_t>(bytes, at + 8);
    if (header < 16 || header > bytes.size() - at || size > bytes.size() - at - header) continue;
    look_in(bytes.substr(at + header, size), found);
  }
  if (found.asserts) return DeviceAsserts::present;
  if (found.compressed || (found.ptx && !found.machine_code)) return DeviceAsserts::compressed;
  return found.machine_code ? DeviceAsserts::missing : DeviceAsserts::no_device_code;
}

}  // namespace dsafuzz
