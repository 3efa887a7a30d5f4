// The judgement of one case on a device, with a second opinion where nothing seemed wrong: the operators' contracts
// and the CPU. Pure: no file, clock or process.
#pragma once

#include "repro/diagnose.h"

namespace dsafuzz {

// The device's own diagnosis. Where the device returned and nothing was wrong, `silent` if
// - a contract of the case's operators is broken, whatever the CPU did; the condition is the argument and what it
//   breaks: "target: not in [0, classes)"; or else
// - the CPU (`cpu`, may be null: not asked) refuses the values; the condition is its message.
Diagnosis judge(const Case& c, const Outcome& device, const Outcome* cpu);

// The CPU refuses the values, not merely the dtype: an operator that has no CPU version says nothing about them.
bool refuses_values(const Outcome& cpu);

}  // namespace dsafuzz
