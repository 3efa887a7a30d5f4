// What the tests of emission share: findings to emit, texts that try to break out of what they are written into, and
// running what was emitted.
#pragma once

#include <string>
#include <vector>

#include "repro/finding.h"

namespace dsafuzz {

struct Ran {
  int code = -1;
  std::string output;
};
// A command of fixed words and file names made here.
Ran run(const std::string& command);

// Each emitted Python program as `python PATH cpu`. torch is imported once for all of them, and each runs in a fork of
// that process: the import is most of what a small program costs.
std::vector<Ran> run_on_cpu(const std::vector<std::string>& paths);

// Writes into a folder of this process, which is removed at the end. Returns the path.
std::string write(const std::string& name, const std::string& text);
std::string folder();

std::string python();  // with torch, where the environment is set up
bool has_torch();

Case case_of(const std::string& yaml);
// The smallest bad label, as found on vcuda.
Finding classic();
Finding with_case(const std::string& yaml, Verdict verdict = Verdict::device_assert);

extern const std::vector<std::string> kHostile;
extern const std::string kTensors;  // a case with every dtype, layout and kind of contents

}  // namespace dsafuzz
