#include "repro/run_settings.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dsafuzz {
namespace {

constexpr std::array kTools{Tool::none, Tool::memcheck, Tool::initcheck, Tool::racecheck, Tool::synccheck};

}  // namespace

std::string_view to_text(Tool tool) {
  switch (tool) {
    case Tool::none: return "none";
    case Tool::memcheck: return "memcheck";
    case Tool::initcheck: return "initcheck";
    case Tool::racecheck: return "racecheck";
    case Tool::synccheck: return "synccheck";
  }
  std::unreachable();
}

std::optional<Tool> parse_tool(std::string_view text) {
  const auto found = std::ranges::find(kTools, text, [](Tool tool) { return to_text(tool); });
  return found == kTools.end() ? std::nullopt : std::optional(*found);
}

std::vector<std::string> environment_of(const RunSettings& settings, const char* const* inherited) {
  std::vector<std::string> out;
  // Where programs and libraries are found is the machine's business; nothing else of the caller's environment reaches
  // a child, so a finding does not depend on it.
  for (const char* const* entry = inherited; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    for (const std::string_view name :
         {"PATH=", "HOME=", "LD_LIBRARY_PATH=", "TMPDIR=", "CUDA_VISIBLE_DEVICES=", "CUDA_HOME="}) {
      if (text.starts_with(name)) out.emplace_back(text);
    }
  }
  out.push_back("LC_ALL=C.UTF-8");
  out.push_back("OMP_NUM_THREADS=1");
  out.push_back("MKL_NUM_THREADS=1");
  // cuBLAS is only repeatable with a fixed workspace.
  out.push_back("CUBLAS_WORKSPACE_CONFIG=:4096:8");
  if (settings.blocking) out.push_back("CUDA_LAUNCH_BLOCKING=1");
  if (settings.tool) out.push_back("DSAFUZZ_VCUDA_TOOL=" + std::string(to_text(*settings.tool)));
  // As many virtual devices as this one needs, and one more, for scenarios with tensors on the next device.
  if (settings.device.kind == Device::Kind::vcuda && settings.device.index > 0) {
    out.push_back("DSAFUZZ_VCUDA_DEVICES=" + std::to_string(std::min(settings.device.index + 2, 16)));
  }
  if (settings.cpp_stacks) out.push_back("TORCH_SHOW_CPP_STACKTRACES=1");
  if (settings.dsa) {
    // The first asks a wheel to be built so; some documents name it for the run, too. The others are what a run reads.
    for (const char* name : {"TORCH_USE_CUDA_DSA=1", "PYTORCH_USE_CUDA_DSA=1", "PYTORCH_CUDA_DSA_STACKTRACING=1"}) {
      out.emplace_back(name);
    }
  }
  if (!settings.core_dump.empty()) {
    out.push_back("CUDA_ENABLE_COREDUMP_ON_EXCEPTION=1");
    out.push_back("CUDA_COREDUMP_SHOW_PROGRESS=1");
    out.push_back("CUDA_COREDUMP_FILE=" + settings.core_dump);
  }
  // Segments that grow move the edges at which an access out of bounds is noticed.
  out.push_back("PYTORCH_ALLOC_CONF=expandable_segments:False");
  if (settings.caching) {
    out.push_back("DSAFUZZ_VCUDA_CACHING=1");
  } else {
    out.push_back("PYTORCH_NO_CUDA_MEMORY_CACHING=1");
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace dsafuzz
