// Runs a case with LibTorch on one device: makes its tensors, calls its steps through the dispatcher, and notes what
// happened. The only place where LibTorch's exceptions are caught.
#pragma once

#include <functional>

#include "repro/case.h"
#include "repro/outcome.h"
#include "repro/run_settings.h"

namespace dsafuzz {

class Program {
 public:
  explicit Program(Device device) : device_(device) {}

  // Runs the valid case `c`; `at_step` is told each step's index before it runs (-1: making tensors). The device is
  // synchronised after each step, so that an asynchronous error belongs to the step that caused it. With
  // `want_results`, the outcome lists the tensors that steps produced even when all returned.
  // Afterwards no tensor of the run is alive.
  Outcome run(const Case& c, const std::function<void(int)>& at_step, bool want_results);

  // What is known of the software and the device: "torch": "2.11.0".
  static std::map<std::string, std::string> versions(Device device);

 private:
  Device device_;
};

}  // namespace dsafuzz
