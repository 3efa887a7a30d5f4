// See coverage.h. The callbacks are hidden: a program with its own coverage runtime keeps its own.
#include "kernels/vcuda/coverage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

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
  counter = static_cast<std::uint8_t>(std::min(255u, counter + std::min(255u, more)));
}

// Threads of the host that share a grid would take the counter's cache line from each other at each store.
void mark(std::uint64_t name) {
  std::uint8_t& counter = map.counters[slot(name)];
  if ((counter & 1) == 0) counter |= 1;
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
  mark(feature(Kind::compare, relative(caller) * 128 + agreeing));
}

// Kept out of line: the return address is the compare's place in the kernel.
template <typename Word>
[[gnu::noinline]] void compare(Word a, Word b) {
  count_compare(a, b, __builtin_return_address(0));
}

// One counter for each place in a kernel where the paths part: the compiler's "guards", which are ours to use.
using Counters = std::span<std::uint32_t>;
std::vector<Counters>& modules() {
  static std::vector<Counters> only;
  return only;
}

bool are_zero(const std::uint32_t* at) {
  std::array<std::uint64_t, 4> words;
  std::memcpy(words.data(), at, sizeof words);
  return (words[0] | words[1] | words[2] | words[3]) == 0;
}

void collect(Counters counters, std::uint64_t first_name) {
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (counters.size() - i >= 8 && are_zero(&counters[i])) {
      i += 7;
      continue;
    }
    const std::uint32_t count = std::exchange(counters[i], 0);
    if (count == 0 || map.counters == nullptr) continue;
    add_saturating(map.counters[slot(feature(Kind::counter, first_name + i))], count);
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
  for (const Counters counters : modules()) {
    collect(counters, first_name);
    first_name += counters.size();
  }
}

void collect_gpu_counters(std::span<std::uint32_t> counters) {
  constexpr std::uint64_t kBehindAllGuards = std::uint64_t{1} << 32;
  collect(counters, kBehindAllGuards);
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
  mark(feature(Kind::assert_site, name));
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

// Saturates as the map does. A hot place then costs a look and no store, which threads of the host that share a grid
// would have to wait for.
VCUDA_INTO_KERNELS void __sanitizer_cov_trace_pc_guard(std::uint32_t* counter) {
  if (*counter < 255) [[unlikely]]
    ++*counter;
}

// One call for each source file, always with the same range: the linker has joined them.
VCUDA_KERNEL_SIDE void __sanitizer_cov_trace_pc_guard_init(std::uint32_t* begin, std::uint32_t* end) {
  for (const vcuda::Counters known : vcuda::modules()) {
    if (known.data() == begin) return;
  }
  vcuda::modules().emplace_back(begin, end);
}

}  // extern "C"
