// Reproducers and reports as text. Everything that comes from a case, a log or an error is escaped for the language
// it is written into; names become identifiers. Pure functions: writing files is the caller's (fuzz/store.h).
#pragma once

#include <optional>
#include <string>

#include "repro/finding.h"

namespace dsafuzz {

// A Python program that needs torch only: literal tensors, `python repro.py [DEVICE]` (default cuda; also cpu, vcuda),
// prints what happened. Exit code 1: the bug shows; 0: it does not; 125: it cannot be run here.
std::string emit_python(const Finding& finding);

// The same in C++ over LibTorch only, for emit_cmake's project. Same arguments and exit codes.
std::string emit_cpp(const Finding& finding);
std::string emit_cmake(const Finding& finding);

// The finding as a regression test for pytest (test_repro.py) and GoogleTest (repro_test.cpp, in emit_cmake's project).
// Both state what should be, so they fail while the bug is there: exit code 1; 0 afterwards, or skipped where the
// device is missing. REPRO_DEVICE chooses it. The call runs in a child; what the CPU says is a test of its own.
std::string emit_pytest(const Finding& finding);
std::string emit_gtest(const Finding& finding);

// A CUDA program without LibTorch, for a case whose one step is a custom operator (dsafuzz::) over tensors of the case:
// the kernel's source as it stands in kernels/custom, its buffers, the launch. `nvcc repro.cu`; it takes no arguments;
// exit codes as above. Nothing for other cases.
std::optional<std::string> emit_cuda(const Finding& finding);

// An issue for PyTorch's tracker, after its bug template. For those who own the program that failed, and want to know
// what to change in it, there is emit_report.
std::string emit_issue(const Finding& finding);
// A bug report in Markdown: summary, steps, expected and actual, evidence, versions, advice, confirmation.
std::string emit_report(const Finding& finding);
// The same facts for scripts; version 1 of the format is described in emit_json.cpp.
std::string emit_json(const Finding& finding);

}  // namespace dsafuzz
