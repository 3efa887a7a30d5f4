// Runs emitted reproducers the way a user would: `python repro.py DEVICE`, and repro.cpp built against the torch wheel.
// Where Python, the compiler or the wheel are found is this installation's business: DSAFUZZ_PYTHON, DSAFUZZ_CXX and
// DSAFUZZ_TORCH_DIR say it, with what the build found as default.
#pragma once

#include <map>
#include <string>

#include "fuzz/reproducer_runner.h"

namespace dsafuzz {

class ProcessReproducerRunner : public ReproducerRunner {
 public:
  ~ProcessReproducerRunner() override;
  RunReport run_python(const std::string& path, const Device& device) override;
  RunReport run_cpp(const std::string& folder, const Device& device) override;

 private:
  // The built program for a folder's repro.cpp; empty, with the compiler's words in `said`, if it does not compile.
  std::string build(const std::string& folder, std::string& said);

  std::string built_from_, program_;  // the last source text and its program: one build serves several devices
  std::string temporary_;
};

}  // namespace dsafuzz
