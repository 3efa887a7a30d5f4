// The arrays that kernels' library holds: shared memory and constants. The compiler pads each and tells of it when the
// library is loaded (access.cpp), so an index that leaves an array by a little does not silently meet its neighbour.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/vcuda/shadow.h"

namespace vcuda {

struct StaticArray {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::size_t with_padding = 0;
  std::string_view name;  // "(anonymous namespace)::kernel(float*, int)::partial"
  bool shared = false;    // false: a constant
};

void add_static_array(const StaticArray& array);
void remove_static_array(std::uintptr_t begin);

// Null for memory that belongs to none. The pointer is valid until a library is loaded or unloaded.
const StaticArray* static_array_at(std::uintptr_t address);
std::span<const StaticArray> static_arrays();
// Whether the name says that `kernel`, a short name, declares it.
bool belongs_to(const StaticArray& array, std::string_view kernel);
// The nearest shared one of those that belong to `kernel`, a short name: whoever leaves an array is likely to have
// meant its own. Null if it has none.
const StaticArray* nearest_array(std::uintptr_t address, std::string_view kernel);

// The kernels' library as loaded.
shadow::Range kernel_library();

}  // namespace vcuda
