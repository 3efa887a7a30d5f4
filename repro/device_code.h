// Whether the kernels in a compiled library still call the device's assert. nvcc keeps device code in records ("fat
// binaries") of one header and an entry for each architecture; a program compiled with -DNDEBUG has no such call left.
#pragma once

#include <cstdint>
#include <string_view>

namespace dsafuzz {

enum class DeviceAsserts : std::uint8_t {
  no_device_code,
  present,
  missing,
  compressed,  // machine code that is compressed, so that nothing can be said
};

// `bytes`: a library, an archive or an object file; any other bytes have no device code.
DeviceAsserts device_asserts_in(std::string_view bytes);

}  // namespace dsafuzz
