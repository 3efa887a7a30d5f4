// A fake installation for tests: tests/repro/installations/NAME, which holds recorded outputs and expected.json. One
// that names a base has all files of that one, too, except those it has itself or lists under "without".
#pragma once

#include <string>
#include <vector>

#include "repro/machine_record.h"

namespace dsafuzz {

struct Installation {
  std::string name, why;
  MachineRecord record;
  std::vector<std::string> faults, warnings, notes;  // ids that must be named, sorted; none besides
};

// All of them, by name. Throws what is wrong with one: a test then fails.
std::vector<Installation> read_installations(const std::string& folder);

}  // namespace dsafuzz
