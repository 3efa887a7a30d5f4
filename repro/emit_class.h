// One report for all findings that lack the same check: what a nightly files instead of a flood.
#pragma once

#include <string>
#include <vector>

#include "repro/finding.h"
#include "repro/missing_check.h"

namespace dsafuzz {

// What a class's report says of one finding, as finding.json keeps it.
struct ClassMember {
  Signature signature;
  Case minimal;
  std::string device = {};  // "vcuda", "cuda:0"
  std::string cause = {};   // of its advice
  std::string cpu_opinion = {};
  std::string torch = {};  // version; may be empty
  int confirmed = 0, confirmations = 0;
};

// Requires: at least one member. The operators are listed by their users' names, sorted; the example is the member
// whose case is simplest. The same members give the same text, in any order.
std::string emit_class_report(const MissingCheck& check, std::vector<ClassMember> members);

}  // namespace dsafuzz
