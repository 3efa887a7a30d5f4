// What is not an assert with its line: known_faults has the texts.
#include <algorithm>
#include <array>

#include "repro/explain_parts.h"
#include "repro/known_faults.h"
#include "repro/normalise.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

// Scenarios of ours that show a fault of the same kind.
struct Ready {
  std::string_view fault, scenario;
};
constexpr std::array kReady{Ready{"invalid_global", "scenarios/custom_kernel_without_bounds_check.yaml"},
                            Ready{"illegal_memory_access", "scenarios/custom_kernel_without_bounds_check.yaml"},
                            Ready{"invalid_shared", "scenarios/custom_shared_overrun.yaml"},
                            Ready{"invalid_local", "scenarios/custom_stack_overrun.yaml"},
                            Ready{"misaligned_address", "scenarios/custom_misaligned.yaml"},
                            Ready{"double_free", "scenarios/custom_double_free.yaml"},
                            Ready{"use_after_free", "scenarios/use_after_free.yaml"},
                            Ready{"use_before_alloc", "scenarios/custom_stream_race.yaml"},
                            Ready{"uninitialized", "scenarios/custom_uninitialised_read.yaml"},
                            Ready{"race", "scenarios/custom_race.yaml"},
                            Ready{"hazard", "scenarios/custom_race.yaml"},
                            Ready{"barrier", "scenarios/custom_divergent_barrier.yaml"}};

std::string ready_scenario(const LogReading& reading, std::span<const KnownScenario> scenarios) {
  const std::string name = short_kernel_name(reading.kernel.value_or(""));
  for (const KnownScenario& each : scenarios) {
    if (!name.empty() && each.signature.starts_with(name + " `")) return each.path;
  }
  for (const Ready& ready : kReady) {
    if (!std::string_view(reading.primary_fault).starts_with(ready.fault)) continue;
    if (std::ranges::find(scenarios, ready.scenario, &KnownScenario::path) != scenarios.end()) {
      return std::string(ready.scenario);
    }
  }
  return {};
}

std::string with_program(std::string_view step, const LogReading& reading) {
  std::string out(step);
  const std::size_t at = out.find("{0}");
  return at == std::string::npos ? out : out.replace(at, 3, program_of(reading));
}

// An assert without its line: only the error, a sanitizer's record or a debugger's stop.
void explain_lost_assert(const LogReading& reading, Explanation& out) {
  const std::string kernel = reading.kernel ? short_kernel_name(*reading.kernel) : std::string();
  out.happened = kernel.empty() ? "A device assert failed, but the line that names it is not in this log."
                                : "A device assert failed in " + kernel + "; its condition is not in this log.";
  out.open.emplace_back(
      "Which assert it was. The driver prints `FILE:LINE: FUNCTION: block: .. Assertion .. failed.` to "
      "standard error: under Jupyter in the server's terminal, under a launcher in the rank's own "
      "file; ROCm's default build prints none.");
  out.steps.emplace_back("Run once more, wait for every kernel, and keep both streams:");
  out.steps.push_back("    CUDA_LAUNCH_BLOCKING=1 python " + program_of(reading) + " 2>&1 | tee failing.log");
  out.steps.emplace_back("    dsafuzz explain failing.log");
  out.steps.emplace_back(
      "Or move the model to the CPU for that batch: it raises an ordinary error that names the value.");
  out.causes = {"A label outside the number of classes in a loss (nll_loss, cross_entropy).",
                "A token or index past the end of an embedding or an indexed tensor.",
                "NaN or negative probabilities in sampling, or inputs outside 0 to 1 in binary_cross_entropy."};
}

std::string environment_text(const EnvironmentReading& environment) {
  std::string text = "The log describes a machine (" + environment.source + ")";
  std::string told;
  for (const Fact& fact : environment.facts) {
    if (const auto* value = std::get_if<std::string>(&fact.value)) {
      told += (told.empty() ? ": " : ", ") + std::string(fact.name) + " " + *value;
    }
  }
  if (environment.lists_gpus) {
    told += (told.empty() ? ": " : ", ") + std::to_string(environment.gpus.size()) +
            (environment.gpus.size() == 1 ? " GPU" : " GPUs");
  }
  return text + told + ". It shows no fault.";
}

void explain_nothing(const LogReading& reading, Explanation& out) {
  switch (reading.kind) {
    case LogKind::environment:
      out.happened = environment_text(reading.environment);
      out.steps.emplace_back("See whether these versions fit together, on that machine:");
      out.steps.emplace_back("    dsafuzz doctor");
      return;
    case LogKind::sanitizer_clean: out.happened = "The tool ran the program to its end and found nothing."; return;
    default:
      out.happened = "Nothing in this text is a device assert, a CUDA error or a report of a tool known here.";
      out.steps.emplace_back("If the program died, give its whole output, standard error included:");
      out.steps.emplace_back("    python YOUR_PROGRAM.py 2>&1 | tee failing.log; dsafuzz explain failing.log");
      return;
  }
}

void add_place(const LogReading& reading, Explanation& out) {
  std::string place;
  if (reading.kernel) place = "kernel " + *reading.kernel;
  if (!reading.file.empty()) {
    place += (place.empty() ? "" : ", ") + reading.file;
    if (reading.line.value_or(0) > 0) place += ":" + std::to_string(*reading.line);
  }
  if (!place.empty()) out.happened += " Place: " + place + ".";
}

}  // namespace

void explain_fault(const LogReading& reading, std::span<const KnownScenario> scenarios, Explanation& out) {
  const bool nothing =
      reading.kind == LogKind::none || reading.kind == LogKind::environment || reading.kind == LogKind::sanitizer_clean;
  if (nothing) return explain_nothing(reading, out);
  out.fault = true;
  if (reading.primary_fault == "device_assert") return explain_lost_assert(reading, out);

  if (const KnownFault* fault = find_known_fault(reading.primary_fault)) {
    out.happened = std::string(fault->happened);
    for (std::string_view cause : fault->causes) {
      if (!cause.empty()) out.causes.emplace_back(cause);
    }
    for (std::string_view step : fault->steps) {
      if (!step.empty()) out.steps.push_back(with_program(step, reading));
    }
  } else {
    out.happened = "The log shows a fault: " + reading.primary_fault + ".";
    if (reading.error && !reading.error->text.empty())
      out.happened = "A CUDA call failed: " + reading.error->text + ".";
  }
  add_place(reading, out);
  out.scenario = ready_scenario(reading, scenarios);
}

}  // namespace dsafuzz
