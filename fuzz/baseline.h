// The baseline of nightly runs: findings that are known and accepted, a file that people keep with their code.
//
//   accepted:
//     - finding: device_assert-49254dbccfffb243                           # the name of its folder
//       bug: "Loss.cu nll_loss_forward_reduce_cuda_kernel_2d `t >= 0 && t < n_classes`"   # for people; not compared
//       why: "fixed by the data team in March"                            # may be left out
#pragma once

#include <map>
#include <string>

#include "repro/result.h"

namespace dsafuzz {

struct Accepted {
  std::string bug, why;
};
using Baseline = std::map<std::string, Accepted>;  // by the finding's name

// A file that is not there is an empty one. Problem: it cannot be read, or something in it has another form.
Result<Baseline> load_baseline(const std::string& file);
// As load_baseline() reads it.
std::string to_yaml(const Baseline& baseline);

}  // namespace dsafuzz
