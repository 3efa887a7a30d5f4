// Which engines a campaign starts, and how runs and seconds are shared out among them.
//
// With a number of runs, the engines depend on that number and the number of devices alone, not on how many may run at
// once: so `--jobs` does not change what is found. With seconds only, every job gets work until the time is up.
//
// Each scenario has an engine on every device, and devices take turns, so that all are busy from the start.
#pragma once

#include <cstdint>
#include <vector>

namespace dsafuzz {

inline constexpr std::uint64_t kRunsPerEngine = 50'000;
inline constexpr std::uint64_t kMostEnginesPerScenario = 16;

struct PlannedEngine {
  std::size_t scenario = 0;  // an index
  std::uint64_t index = 0;   // among its scenario's engines
  std::uint64_t runs = 0;    // 0: no limit
  double seconds = 0;        // 0: no limit
  std::size_t device = 0;    // an index
  friend bool operator==(const PlannedEngine&, const PlannedEngine&) = default;
};

// `runs` is for each scenario, `seconds` for the whole campaign; 0 is no limit. In the order of starting: the
// scenarios' first engines before any second one. `jobs` is how many run at once, on all devices together. Where there
// are fewer runs than devices, some devices get none. Requires: scenarios > 0, jobs > 0, devices > 0.
std::vector<PlannedEngine> plan_engines(std::size_t scenarios, std::uint64_t runs, double seconds, std::size_t jobs,
                                        std::size_t devices = 1);

}  // namespace dsafuzz
