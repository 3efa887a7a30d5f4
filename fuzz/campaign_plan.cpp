#include "fuzz/campaign_plan.h"

#include <algorithm>

namespace dsafuzz {

std::vector<PlannedEngine> plan_engines(std::size_t scenarios, std::uint64_t runs, double seconds, std::size_t jobs,
                                        std::size_t devices) {
  const auto engines_of = [&](std::size_t scenario) -> std::uint64_t {
    if (runs != 0) {
      const auto engines = std::clamp<std::uint64_t>(runs / kRunsPerEngine, 1, kMostEnginesPerScenario);
      return std::min(runs, std::max<std::uint64_t>(engines, devices));
    }
    // Every scenario has an engine; jobs beyond that go round.
    return std::max<std::uint64_t>(devices, jobs / scenarios + (scenario < jobs % scenarios ? 1 : 0));
  };
  std::vector<PlannedEngine> plan;
  std::uint64_t most = 0;
  for (std::size_t s = 0; s < scenarios; ++s) most = std::max(most, engines_of(s));
  for (std::uint64_t index = 0; index < most; ++index) {
    for (std::size_t s = 0; s < scenarios; ++s) {
      const std::uint64_t engines = engines_of(s);
      if (index >= engines) continue;
      const std::uint64_t share = runs == 0 ? 0 : runs / engines + (index < runs % engines ? 1 : 0);
      plan.push_back({s, index, share, 0, (s + index) % devices});
    }
  }
  // Engines that wait for their turn take their share of the time with them.
  const double turns = static_cast<double>(plan.size()) / static_cast<double>(jobs);
  for (PlannedEngine& engine : plan) engine.seconds = turns > 1 ? seconds / turns : seconds;
  return plan;
}

}  // namespace dsafuzz
