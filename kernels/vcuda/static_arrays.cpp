// See static_arrays.h.
#include "kernels/vcuda/static_arrays.h"

#include <link.h>

#include <algorithm>
#include <vector>

namespace vcuda {
namespace {

// Sorted by address.
std::vector<StaticArray>& arrays() {
  static auto* only = new std::vector<StaticArray>;  // outlives the library's destructors
  return *only;
}

const int kOwn = 0;  // its address lies in the kernels' library

struct Library {
  shadow::Range whole;
  std::vector<shadow::Range> constant;  // read-only, from the start or once relocated
};

Library find_library() {
  Library found;
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* out) {
        const auto own = reinterpret_cast<std::uintptr_t>(&kOwn);
        Library seen;
        std::uintptr_t low = UINTPTR_MAX, high = 0;
        bool ours = false;
        for (int i = 0; i < module->dlpi_phnum; ++i) {
          const auto& segment = module->dlpi_phdr[i];
          const std::uintptr_t begin = module->dlpi_addr + segment.p_vaddr, end = begin + segment.p_memsz;
          const bool loaded = segment.p_type == PT_LOAD;
          if (segment.p_type == PT_GNU_RELRO || (loaded && (segment.p_flags & PF_W) == 0)) {
            seen.constant.push_back({begin, segment.p_memsz});
          }
          if (!loaded) continue;
          ours = ours || (own >= begin && own < end);
          low = std::min(low, begin);
          high = std::max(high, end);
        }
        if (!ours) return 0;
        seen.whole = {low, high - low};
        *static_cast<Library*>(out) = std::move(seen);
        return 1;
      },
      &found);
  return found;
}

const Library& library() {
  static const Library only = find_library();
  return only;
}

}  // namespace

shadow::Range kernel_library() { return library().whole; }

void add_static_array(const StaticArray& array) {
  std::vector<StaticArray>& all = arrays();
  const auto at = std::ranges::lower_bound(all, array.begin, {}, &StaticArray::begin);
  StaticArray known = array;
  known.shared =
      std::ranges::none_of(library().constant, [&](const shadow::Range& range) { return range.holds(array.begin); });
  all.insert(at, known);
}

void remove_static_array(std::uintptr_t begin) {
  std::erase_if(arrays(), [&](const StaticArray& array) { return array.begin == begin; });
}

const StaticArray* static_array_at(std::uintptr_t address) {
  const std::vector<StaticArray>& all = arrays();
  const auto after = std::ranges::upper_bound(all, address, {}, &StaticArray::begin);
  if (after == all.begin()) return nullptr;
  const StaticArray& array = *std::prev(after);
  return address - array.begin < array.with_padding ? &array : nullptr;
}

bool belongs_to(const StaticArray& array, std::string_view kernel) {
  // "(anonymous namespace)::kernel<float>(float*)::array"
  for (std::size_t at = array.name.find(kernel); at != std::string_view::npos; at = array.name.find(kernel, at + 1)) {
    const std::string_view rest = array.name.substr(at + kernel.size());
    const bool whole = at == 0 || array.name[at - 1] == ':' || array.name[at - 1] == ' ';
    if (whole && !rest.empty() && (rest.front() == '<' || rest.front() == '(')) return true;
  }
  return false;
}

const StaticArray* nearest_array(std::uintptr_t address, std::string_view kernel) {
  const StaticArray* best = nullptr;
  std::uintptr_t best_distance = UINTPTR_MAX;
  for (const StaticArray& array : arrays()) {
    if (!array.shared || !belongs_to(array, kernel)) continue;
    const std::uintptr_t distance =
        address < array.begin ? array.begin - address : address - std::min(address, array.begin + array.bytes);
    if (distance < best_distance) {
      best = &array;
      best_distance = distance;
    }
  }
  return best;
}

std::span<const StaticArray> static_arrays() { return arrays(); }

}  // namespace vcuda
