// New cases from old ones. Only what the scenario lets vary changes; labels and indices change most, and mostly to
// values at the bounds of what is legal. A healthy twin (only_legal) stays inside them.
#pragma once

#include <optional>

#include "fuzz/random.h"
#include "repro/scenario.h"

namespace dsafuzz {

// A case with one or a few changes. Pure: the same arguments give the same case, and `random` is the only source of
// chance. The result passes validate(), belongs to the scenario, holds no illegal value if the scenario is only_legal,
// and is small most of the time. An input that does not belong counts as the scenario's base case.
Case mutate(const Scenario& scenario, const Case& c, Random& random);

// A case that takes each varying part from `a` or from `b`. The same promises.
Case crossover(const Scenario& scenario, const Case& a, const Case& b, Random& random);

// The case is a variant of this scenario: valid, the same program, differing in nothing but what may vary, and within
// the rules of only_legal. Corpus files from another day are asked this before they are used.
bool belongs(const Scenario& scenario, const Case& c);

// The base with its illegal values replaced by legal ones, as far as they may vary: where a search starts whose base
// case already fails. Equal to the base if nothing is illegal; nothing if that is not to be had.
std::optional<Case> healthy_base(const Scenario& scenario);

// Cases stay at or below the first size, except now and then up to the second.
inline constexpr std::int64_t kUsualElements = std::int64_t{1} << 16;
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 21;
// The product of all sizes that may vary stays at or below this or the base's, except now and then.
inline constexpr std::int64_t kUsualWork = std::int64_t{1} << 14;

}  // namespace dsafuzz
