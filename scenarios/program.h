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
  // Afterwards no tensor of the run is alive, unless the device is lost.
  Outcome run(const Case& c, const std::function<void(int)>& at_step, bool want_results);

  // True once a run has lost a GPU's context: nothing may run there any more, and the process should end.
  bool device_lost() const { return device_lost_; }

  // A first case in small, so that a process or its forks have behind them what first calls cost: MKL's set-up, symbols
  // bound at first use, pages touched; and on a GPU the context. What fails here fails again in a case, which says so.
  // On the CPU and on a virtual device it starts no thread, so that the process may fork afterwards.
  void warm_up() const;

  // What is known of the software and the device: "torch": "2.11.0".
  static std::map<std::string, std::string> versions(Device device);

 private:
  Device device_;
  bool device_lost_ = false;
};

}  // namespace dsafuzz
