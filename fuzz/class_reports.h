// The reports in classes/: one for each check that findings of the folder lack.
#pragma once

#include <map>
#include <string>

#include "fuzz/store.h"

namespace dsafuzz {

// Rewrites classes/NAME.md from all findings on disk; a finding whose finding.json does not read back is left out.
// Call whenever one was published. Returns the number of findings by class title.
Result<std::map<std::string, int>> write_class_reports(Store& store);

}  // namespace dsafuzz
