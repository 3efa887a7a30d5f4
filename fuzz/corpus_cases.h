// Cases below a folder, whether a campaign wrote them as bytes or a person as YAML.
#pragma once

#include <string>
#include <vector>

#include "repro/case.h"
#include "repro/result.h"

namespace dsafuzz {

// All cases in the folder and below, by path: `.yaml` files that begin with `case`, and what lies in a campaign's
// corpus (corpus/SCENARIO/CASE_ID). Other files are left out. Problem: no file at all, or a case that cannot be read:
// an incomplete answer would mislead.
Result<std::vector<Case>> cases_below(const std::string& folder);

}  // namespace dsafuzz
