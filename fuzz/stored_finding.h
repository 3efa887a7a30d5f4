// What finding.json of a finding on disk says of itself. The file may be anyone's: whatever is in it, reading never
// throws.
#pragma once

#include <optional>
#include <string>

#include "repro/finding.h"
#include "repro/run_settings.h"

namespace dsafuzz {

struct StoredFinding {
  Signature signature;
  std::optional<Tool> tool;  // of its runs, where one was chosen
  std::string device;        // where it was confirmed
  int confirmed = 0, confirmations = 0;
  bool one_minimal = false;
};

// Empty if the folder has no readable finding.json of a version we know.
std::optional<StoredFinding> read_stored_finding(const std::string& folder);

}  // namespace dsafuzz
