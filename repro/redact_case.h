// A case without its owner's data: floating contents become random ones of the same shape and dtype, names become
// neutral, as far as the same thing still happens. What an integer tensor holds stays: it is what most bugs are made
// of. The program stays too: operators, their numbers and texts, sizes.
//
// A tensor by itself that cannot do without its contents keeps the smallest part: first only which elements are NaN,
// infinite, below 0 or above 1, with -1 and 2 for what they were; then their values; then any values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "repro/case.h"

namespace dsafuzz {

struct RedactedTensor {
  enum class Kept : std::uint8_t {
    nothing,  // all of it is random now
    kinds,    // `kept` elements are still NaN, infinite, -1 or 2
    values,   // `kept` elements have their own values
    fill,     // its fill has its own numbers, and `kept` elements set on top have theirs
  };
  std::string name, was;  // in the redacted case; in the original
  Kept how = Kept::nothing;
  std::int64_t kept = 0, of = 0;  // elements
};

struct RedactedCase {
  Case the_case;
  std::vector<RedactedTensor> tensors;  // those that held someone's floating contents, in the case's order
  std::vector<std::string> integers;    // tensors whose integer contents are given in the case, by their new names
  bool renamed = true;                  // false: the bug needs the names
  int executions = 0;
};

// Whether the case shows what the original showed: the same verdict and signature.
using StillShows = std::function<bool(const Case&)>;

// Deterministic if `shows` is. Random contents are in [0, 1), a function of the case's seed (fill.h). After
// `executions` runs, what has not been done without is kept. The result has passed `shows`, unless nothing did: it is
// then the original.
RedactedCase redacted(const Case& original, const StillShows& shows, int executions);

// Whether a number tells something: any but 0, 1, -1, NaN and infinities.
bool is_private(double value);

// What was done, what was kept and what never goes, each in a sentence; names are the redacted case's.
std::vector<std::string> sentences(const RedactedCase& redacted);

}  // namespace dsafuzz
