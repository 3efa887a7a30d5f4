// Which check an operator lacks, for grouping findings: hundreds of signatures come from a handful of checks that
// nobody made, and one report a check is what a maintainer can use. Derived from the contract that the case breaks,
// else from the signature and the catalogue's row of it; never from a list of cases.
#pragma once

#include <span>
#include <string_view>

#include "repro/finding.h"

namespace dsafuzz {

struct MissingCheck {
  std::string_view name;    // of a file: "class_label"
  std::string_view title;   // "class label not compared with the number of classes"
  std::string_view wanted;  // one sentence: what should happen instead
};

// Never fails: what fits no other check is of "other".
const MissingCheck& missing_check(const Case& c, const Signature& signature);
// nullptr: no such name.
const MissingCheck* find_missing_check(std::string_view name);

}  // namespace dsafuzz
