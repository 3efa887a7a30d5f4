// Sentences that the reports of a finding share. Facts only: nothing is claimed that was not run.
#pragma once

#include <string>

#include "repro/finding.h"

namespace dsafuzz {

// "vcuda", "cuda:0": where it was found.
std::string device_of(const Finding& finding);
// "Found on vcuda, the virtual CUDA device; not run on a GPU."
std::string device_sentence(const Finding& finding);
// "`aten::gather` stops the device with a failed device-side assert."; `op` is Markdown.
std::string what_happens(const Finding& finding, const std::string& op);
std::string what_is_expected(const Finding& finding);
std::string what_was_seen(const Finding& finding);
// How far it was reduced, and for how many runs.
std::string certificate(const Finding& finding);

// "torch.nn.functional.cross_entropy" for "aten::cross_entropy_loss"; an operator without a user's name is itself.
std::string user_name(const std::string& op);

// A few lines that show the bug: imports, tensors, the call; no judgement and no exit code. For a GPU, unless it is a
// finding of the CPU: readers of a report have no virtual device.
std::string python_snippet(const Case& c, bool on_cpu);

}  // namespace dsafuzz
