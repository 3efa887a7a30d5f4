// What a run means: a verdict, and a signature that says which bug it is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repro/case.h"
#include "repro/outcome.h"
#include "repro/result.h"
#include "repro/run_settings.h"

namespace dsafuzz {

enum class Verdict : std::uint8_t {
  ok,             // nothing wrong seen
  host_reject,    // a clean, non-sticky error before any kernel ran: what a good operator does with bad input
  device_assert,
  memory_fault,   // illegal or misaligned access, use after free
  silent,         // the CPU rejects the input and the device accepts it
  wrong_result,
  hang,
  crash,          // the process died without a record of its cause
  out_of_memory,
  setup_failed,   // it could not be run here
};
inline constexpr std::array kVerdicts{Verdict::ok,           Verdict::host_reject,   Verdict::device_assert,
                                      Verdict::memory_fault, Verdict::silent,        Verdict::wrong_result,
                                      Verdict::hang,         Verdict::crash,         Verdict::out_of_memory,
                                      Verdict::setup_failed};
std::string_view to_text(Verdict);
std::optional<Verdict> parse_verdict(std::string_view);
// Worth a finding unless a scenario says otherwise: device_assert, memory_fault, silent, wrong_result, hang, crash.
bool is_bug(Verdict);

// Which bug it is. Never line, block, thread, address, shapes or path prefix: those are evidence.
struct Signature {
  Verdict verdict = Verdict::ok;
  std::string op;         // the step's operator, "aten::cross_entropy_loss" or "backward"
  std::string file;       // from aten/, c10/ or kernels/ on; empty if unknown
  std::string kernel;     // short name, without templates and namespaces; empty if unknown
  std::string condition;  // the assert's text, or for other verdicts the normalised message
  friend bool operator==(const Signature&, const Signature&) = default;
  friend auto operator<=>(const Signature&, const Signature&) = default;

  // "Loss.cu nll_loss_forward_reduce_cuda_kernel_2d `t >= 0 && t < n_classes`": what people write and compare in
  // scenarios. The file is its last part; unknown parts are left out.
  std::string text() const;
  // "device_assert-1f2e3d4c5b6a7988": verdict and 16 hex digits over all fields. Names the finding's folder.
  std::string folder_name() const;
};

struct Frame {
  std::string function;
  std::string file;  // may be empty
  int line = 0;      // 0: unknown
  friend bool operator==(const Frame&, const Frame&) = default;
};

struct Advice {
  std::string cause;  // one sentence: what went wrong, with the value if known
  std::string remedy; // one sentence: what to do
  std::string guard;  // Python code that would have stopped it, one or a few lines; may be empty
  friend bool operator==(const Advice&, const Advice&) = default;
};

// What another device than the one it was found on says of the minimal case.
struct DeviceCheck {
  std::string device;
  int confirmed = 0, of = 0;  // fresh processes with the same signature, and all
  std::string instead;        // what the last one that differed gave: a verdict, or why nothing ran there; may be empty
  friend bool operator==(const DeviceCheck&, const DeviceCheck&) = default;
};

struct Finding {
  Signature signature;
  Case original;                       // as first met
  Case minimal;                        // equal to original until reduced
  RunSettings settings;                // of the confirming runs
  Outcome outcome;                     // of the last confirming run of `minimal`
  std::vector<std::string> evidence;   // verbatim lines that prove the verdict, at most 20
  std::optional<Frame> earliest_frame; // the first frame of our program or the operator, where a stack was printed
  std::string cpu_opinion;             // what the CPU says of the minimal case, one line
  Advice advice;
  int confirmed = 0, confirmations = 0;  // k of n fresh processes gave the same signature
  std::vector<DeviceCheck> elsewhere;    // the campaign's other devices
  int executions = 0;                    // spent on reduction
  bool one_minimal = false;              // no single edit of the reducer's list makes it smaller
};

}  // namespace dsafuzz
