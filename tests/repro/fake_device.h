// A device for reducer tests: a few operators with the shape and dtype checks of the real ones, and their kernels'
// conditions. No process, no LibTorch; what an operator would refuse on the host is host_reject here.
#pragma once

#include <optional>
#include <string>

#include "repro/reduce.h"

namespace dsafuzz::testing {

// The case in this text. One that cannot be read fails the test.
Case from_yaml(const std::string& text);

Trial run_on_fake(const Case& c);

// The signatures its kernels raise.
Signature label_bug(const std::string& kernel = "nll_loss_forward_reduce_cuda_kernel_2d");
Signature index_bug(const std::string& op);
Signature use_after_free();
Signature probability_bug();
Signature fake_bug(Verdict verdict, const std::string& op, const std::string& condition);

}  // namespace dsafuzz::testing
