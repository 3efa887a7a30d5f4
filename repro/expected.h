// What a regression case must show: `expect.yaml` beside its case.yaml.
//
//   verdict: device_assert
//   signature: "Loss.cu nll_loss_forward_reduce_cuda_kernel_2d `t >= 0 && t < n_classes`"   # may be left out
//   tool: racecheck                                                                         # that shows it; the same
//   device: cpu                                                       # judged there, whatever the command says; the same
//
// or, for a case that cannot be stated or run (it may then have no case.yaml):
//
//   skip: "needs 17 GB of device memory"
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "repro/finding.h"

namespace dsafuzz {

struct Expected {
  Verdict verdict = Verdict::ok;
  std::string signature;  // Signature::text(); empty: any
  std::optional<Tool> tool;
  std::optional<Device> device;
  std::string skip;  // why it is not run; empty: it is run

  // Empty when `seen` is what was expected; else what was.
  std::optional<std::string> unmet(const Signature& seen) const;
};

Result<Expected> parse_expected(std::string_view text, const std::string& file);
Result<Expected> load_expected(const std::string& path);

}  // namespace dsafuzz
