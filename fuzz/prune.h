// What is removed of old runs: their rows in the database, engines' logs and candidates that did not hold. Never a
// finding, a candidate that waits, or a case of the corpus.
#pragma once

#include <cstdint>
#include <string>

#include "fuzz/campaign_database.h"

namespace dsafuzz {

struct KeepPolicy {
  std::uint64_t days = 0, runs = 0;  // 0: no limit. A run stays while both allow it; the last one always stays
};

struct Pruned {
  int runs = 0, files = 0;  // logs and folders of candidates
};

// `only_count`: says what would go. Requires: the store is exclusive.
Result<Pruned> prune(const Store& store, CampaignDatabase& database, const KeepPolicy& policy, bool only_count);

}  // namespace dsafuzz
