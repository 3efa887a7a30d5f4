// What a run of kernels touched, as small counters in a map that someone else owns (the worker's shared page).
//
// Sources: the kernels' counters of edges, compares (how close the operands were: the number of leading bits
// that agree), and assert sites reached; on a GPU counters of threads. Each is folded into the map by a hash; a counter
// saturates at 255.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/vcuda/launch.h"

namespace vcuda {

// From now on features go to `map` (empty: nowhere). Its size must be a power of two. The owner clears it.
void set_coverage_map(std::span<std::uint8_t> map);

// Adds one feature by any number that names it; for callers outside the kernels (operators, dtypes, shapes).
void add_feature(std::uint64_t name);

// The assert sites that kernels came past since the map was set, each once, in no order; at most 256. Instances of a
// template share a site.
std::vector<AssertSite> reached_sites();

// Moves the kernels' counters into the map and zeroes them; call once after each case.
void collect_counters();
// The same for the counters of kernels on a GPU (nvcc/kernel_counters.h). Requires: none of them runs.
void collect_gpu_counters(std::span<std::uint32_t> counters);

}  // namespace vcuda
