// Runs the files a finding is handed out with: a reproducer that was never run is only a claim. The real one starts
// Python and builds the C++ project; tests use a fake.
#pragma once

#include <string>

#include "repro/run_settings.h"

namespace dsafuzz {

struct RunReport {
  bool ran = false;   // it could be run at all; `said` says why not
  int exit_code = 0;  // as emitted files promise (repro/emit.h): 1 the bug shows, 0 it does not, 125 cannot be run
  std::string said;   // what it printed, or why it could not be run; bounded
};

class ReproducerRunner {
 public:
  virtual ~ReproducerRunner() = default;
  virtual RunReport run_python(const std::string& path, const Device& device) = 0;
  // `folder` holds repro.cpp and CMakeLists.txt. Builds elsewhere: the folder gets no further files.
  virtual RunReport run_cpp(const std::string& folder, const Device& device) = 0;
};

}  // namespace dsafuzz
