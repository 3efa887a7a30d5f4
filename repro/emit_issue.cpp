// The finding as an issue for PyTorch's tracker, in the order of its bug template. What was not run is not claimed: a
// finding of the virtual device says so, and its versions block holds what the worker reported and nothing else.
#include <array>
#include <utility>

#include "repro/emit.h"
#include "repro/emit_plan.h"
#include "repro/emit_words.h"
#include "repro/escape.h"
#include "repro/missing_check.h"

namespace dsafuzz {
namespace {

// What the worker reports, under the keys that `python -m torch.utils.collect_env` prints, in its order.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kKeys{{
    {"torch", "PyTorch version"},
    {"cuda", "CUDA used to build PyTorch"},
    {"os", "OS"},
    {"libc", "Libc version"},
    {"python", "Python version"},
    {"platform", "Python platform"},
    {"cuda_runtime", "CUDA runtime version"},
    {"gpu", "GPU models and configuration"},
    {"driver", "Nvidia driver version"},
    {"cudnn", "cuDNN version"},
}};

std::string versions_block(const Finding& finding) {
  std::string lines;
  for (const auto& [name, key] : kKeys) {
    const auto version = finding.outcome.versions.find(std::string(name));
    if (version != finding.outcome.versions.end()) lines += std::string(key) + ": " + version->second + "\n";
  }
  const bool gpu = device_of(finding).starts_with("cuda");
  lines += std::string("Is CUDA available: ") +
           (gpu ? "True" : "not asked; the finding is from " + device_of(finding)) + "\n";
  return markdown_block(lines) +
         "\nThese are the lines that were recorded; `python -m torch.utils.collect_env` prints the others.\n";
}

std::string origin(const Finding& finding) {
  std::string out = "Found by a fuzzer, dsafuzz. " + certificate(finding) +
                    " Confirmed: " + std::to_string(finding.confirmed) + " of " +
                    std::to_string(finding.confirmations) + " fresh processes on " + markdown_code(device_of(finding)) +
                    " gave the same failure.";
  const std::string device = device_of(finding);
  if (device.starts_with("vcuda")) {
    out +=
        " That device is virtual: its kernels restate the contract of those in PyTorch, with their files, lines and "
        "conditions, and this was not run on a GPU. Run it on one before you file it.";
  }
  return out + "\n";
}

std::string expected(const Finding& finding) {
  std::string out = std::string(missing_check(finding.minimal, finding.signature).wanted);
  if (!finding.cpu_opinion.empty()) out += " The CPU, on the same input: " + markdown_code(finding.cpu_opinion) + ".";
  return out + "\n";
}

}  // namespace

std::string emit_issue(const Finding& finding) {
  const MissingCheck& check = missing_check(finding.minimal, finding.signature);
  const std::string name = user_name(finding.signature.op);
  const std::string device = device_of(finding);
  std::string out = "# " + markdown_code(name) + ": " + std::string(check.title) + "\n\n";
  if (uses_own_operators(finding.minimal)) {
    out +=
        "The operator is a custom one: this is for the owner of the kernel, not for PyTorch. `repro.cu` shows it "
        "without LibTorch.\n\n";
  }
  out += "### \xF0\x9F\x90\x9B Describe the bug\n\n" + what_happens(finding, markdown_code(name));
  if (!finding.advice.cause.empty()) out += " " + markdown_text(finding.advice.cause);
  out += "\n\n" + markdown_block(python_snippet(finding.minimal, device.starts_with("cpu")), "python") + "\n";
  out += what_was_seen(finding) + "\n\n";
  if (!finding.evidence.empty()) {
    std::string lines;
    for (const std::string& line : finding.evidence) lines += line + "\n";
    out += markdown_block(lines) + "\n";
  }
  out += "Expected: " + expected(finding) + "\n" + origin(finding);
  return out + "\n### Versions\n\n" + versions_block(finding);
}

}  // namespace dsafuzz
