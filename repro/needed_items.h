// Delta debugging over a list: which of these items does the bug need? Chunks are left out, halving their size each
// round, so one needed item among n costs about 1.5 log2(n) questions and k of them about 2 k log2(n).
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dsafuzz {

// Returns a subset of `items`, in order, for which `still_shows(subset)` was true (or all of them, unasked).
// Requires: `still_shows` answers the same for the same subset. `patience` refusals in a row end the search early,
// with a subset that need not be minimal.
template <typename Item, typename StillShows>
std::vector<Item> needed_items(std::vector<Item> items, const StillShows& still_shows, int patience) {
  int refused = 0;
  std::size_t chunk = (items.size() + 1) / 2;
  while (!items.empty()) {
    bool shrunk = false;
    for (std::size_t at = 0; at < items.size();) {
      if (refused >= patience) return items;
      std::vector<Item> rest(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(at));
      rest.insert(rest.end(), items.begin() + static_cast<std::ptrdiff_t>(std::min(at + chunk, items.size())),
                  items.end());
      if (still_shows(rest)) {
        items = std::move(rest);
        refused = 0;
        shrunk = true;
      } else {
        ++refused;
        at += chunk;
      }
    }
    if (chunk == 1 && !shrunk) break;
    if (chunk > 1) chunk = (chunk + 1) / 2;
  }
  return items;
}

// The least n in (too_small, enough] for which `shows(n)`, by bisection. Requires: `enough` shows, `too_small` does
// not, and whatever lies above a size that shows, shows too.
template <typename Integer, typename Shows>
Integer least_that_shows(Integer too_small, Integer enough, const Shows& shows) {
  while (enough - too_small > 1) {
    const Integer middle = too_small + (enough - too_small) / 2;
    (shows(middle) ? enough : too_small) = middle;
  }
  return enough;
}

}  // namespace dsafuzz
