// See coverage.h. The callbacks are hidden: a program with its own coverage runtime keeps its own.
#include "kernels/vcuda/coverage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

// The start of this library or program: addresses relative to it are the same in every run.
extern "C" VCUDA_KERNEL_SIDE const char __ehdr_start;

namespace vcuda {
namespace {

struct Map {
  std::uint8_t* counters = nullptr;
  std::size_t mask = 0;
};
constinit Map map;

// Sites reached, by a hash of their address. One that finds no place is a feature and no more.
constexpr std::size_t kProbes = 8;
constinit std::array<const AssertSite*, 256> sites{};

// Fibonacci hashing; the high bits are the good ones.
std::size_t slot(std::uint64_t name) {
  const std::uint64_t mixed = (name ^ (name >> 32)) * 0x9e3779b97f4a7c15u;
  return (mixed >> 24) & map.mask;
}

void add_saturating(std::uint8_t& counter, unsigned more) {
  const unsigned sum = counter + more;
  counter = static_cast<std::uint8_t>(sum > 255 ? 255 : sum);
}

std::uint64_t relative(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(&__ehdr_start);
}

enum class Kind : std::uint64_t { named, counter, compare, assert_site };

std::uint64_t feature(Kind kind, std::uint64_t name) { return name * 4 + static_cast<std::uint64_t>(kind); }

// A compare counts once, however often it ran: the counters say how often already.
template <typename Word>
void count_compare(Word a, Word b, const void* caller) {
  const auto agreeing = static_cast<std::uint64_t>(std::countl_zero(static_cast<Word>(a ^ b)));
  map.counters[slot(feature(Kind::compare, relative(caller) * 128 + agreeing))] |= 1;
}

// Kept out of line: the return address is the compare's place in the kernel.
template <typename Word>
[[gnu::noinline]] void compare(Word a, Word b) {
  count_compare(a, b, __builtin_return_address(0));
}

struct Counters {
  std::uint8_t* begin;
  std::uint8_t* end;
};
std::vector<Counters>& modules() {
  static std::vector<Counters> only;
  return only;
}

void collect(const Counters& counters, std::uint64_t first_name) {
  for (std::uint8_t* at = counters.begin; at < counters.end;) {
    std::uint64_t eight = 0;
    const auto left = static_cast<std::size_t>(counters.end - at);
    if (left >= sizeof eight) {
      std::memcpy(&eight, at, sizeof eight);
      if (eight == 0) {
        at += sizeof eight;
        continue;
      }
    }
    const std::size_t count = left < sizeof eight ? left : sizeof eight;
    for (std::size_t i = 0; i < count; ++i, ++at) {
      if (*at == 0) continue;
      const std::uint64_t name = first_name + static_cast<std::uint64_t>(at - counters.begin);
      if (map.counters != nullptr) add_saturating(map.counters[slot(feature(Kind::counter, name))], *at);
      *at = 0;
    }
  }
}

}  // namespace

void set_coverage_map(std::span<std::uint8_t> counters) {
  if (!counters.empty()) sites.fill(nullptr);
  map = counters.empty() ? Map{} : Map{counters.data(), counters.size() - 1};
}

void add_feature(std::uint64_t name) {
  if (map.counters != nullptr) add_saturating(map.counters[slot(feature(Kind::named, name))], 1);
}

void collect_counters() {
  std::uint64_t first_name = 0;
  for (const Counters& counters : modules()) {
    collect(counters, first_name);
    first_name += static_cast<std::uint64_t>(counters.end - counters.begin);
  }
}

std::vector<AssertSite> reached_sites() {
  std::vector<AssertSite> out;
  for (const AssertSite* site : sites) {
    if (site != nullptr && std::ranges::find(out, *site) == out.end()) out.push_back(*site);
  }
  return out;
}

// Every thread of a kernel comes by: a site met before costs a look. Threads of the host that share a grid may do this
// at once.
VCUDA_INTO_KERNELS void reach(const AssertSite& site) {
  if (map.counters == nullptr) return;
  const std::uint64_t name = relative(&site);
  for (std::size_t i = 0, at = (name * 0x9e3779b97f4a7c15u) >> 56; i < kProbes; ++i, ++at) {
    const AssertSite** here = &sites[at % sites.size()];
    const AssertSite* seen = __atomic_load_n(here, __ATOMIC_RELAXED);
    if (seen != nullptr && seen != &site) continue;
    if (seen == nullptr) __atomic_store_n(here, &site, __ATOMIC_RELAXED);
    break;
  }
  map.counters[slot(feature(Kind::assert_site, name))] |= 1;
}

}  // namespace vcuda

// Inlined into the kernels when they are linked, so that without a map a compare costs no call.
#define VCUDA_COMPARES(BYTES, WORD)                                                \
  VCUDA_INTO_KERNELS void __sanitizer_cov_trace_cmp##BYTES(WORD a, WORD b) {       \
    if (vcuda::map.counters != nullptr) vcuda::compare<WORD>(a, b);                \
  }                                                                                \
  VCUDA_INTO_KERNELS void __sanitizer_cov_trace_const_cmp##BYTES(WORD a, WORD b) { \
    if (vcuda::map.counters != nullptr) vcuda::compare<WORD>(a, b);                \
  }

extern "C" {

VCUDA_COMPARES(1, std::uint8_t)
VCUDA_COMPARES(2, std::uint16_t)
VCUDA_COMPARES(4, std::uint32_t)
VCUDA_COMPARES(8, std::uint64_t)

// `cases` is the number of cases, the bits of the value, then the cases.
[[gnu::noinline]] VCUDA_KERNEL_SIDE void __sanitizer_cov_trace_switch(std::uint64_t value, const std::uint64_t* cases) {
  if (vcuda::map.counters == nullptr) return;
  const auto* const caller = static_cast<const char*>(__builtin_return_address(0));
  for (std::uint64_t i = 0; i < cases[0]; ++i) vcuda::count_compare<std::uint64_t>(value, cases[2 + i], caller + i);
}

// One call for each source file, always with the same range: the linker has joined them.
VCUDA_KERNEL_SIDE void __sanitizer_cov_8bit_counters_init(std::uint8_t* begin, std::uint8_t* end) {
  for (const auto& known : vcuda::modules()) {
    if (known.begin == begin) return;
  }
  vcuda::modules().push_back({begin, end});
}

}  // extern "C"
