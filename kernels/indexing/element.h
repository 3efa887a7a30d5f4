// Elements as opaque bytes: kernels that only move values need one instance for each size, not for each type.
#pragma once

#include <cstdint>

namespace kernels {

struct alignas(16) Bytes16 {
  std::uint64_t low, high;
};

template <typename T>
struct Element {
  using type = T;
};

// Calls `launch(Element<...>)` for an element of `bytes` bytes: 1, 2, 4, 8 or 16; other sizes launch nothing.
template <typename Launch>
void with_element_of(int bytes, const Launch& launch) {
  if (bytes == 1) launch(Element<std::uint8_t>{});
  if (bytes == 2) launch(Element<std::uint16_t>{});
  if (bytes == 4) launch(Element<std::uint32_t>{});
  if (bytes == 8) launch(Element<std::uint64_t>{});
  if (bytes == 16) launch(Element<Bytes16>{});
}

// Calls `launch(Element<...>)` for an index tensor's type: int64 if `wide`, else int32.
template <typename Launch>
void with_index(bool wide, const Launch& launch) {
  if (wide) {
    launch(Element<std::int64_t>{});
  } else {
    launch(Element<std::int32_t>{});
  }
}

}  // namespace kernels
