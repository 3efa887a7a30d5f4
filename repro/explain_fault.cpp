// What is not an assert with its line: one row of a table for each cause, by its word in the reading.
#include <algorithm>
#include <array>

#include "repro/explain_parts.h"
#include "repro/normalise.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

// {0} is the program, as a word of the shell.
struct Known {
  std::string_view fault;  // how primary_fault begins
  std::string_view happened;
  std::array<std::string_view, 3> causes;  // may be empty
  std::array<std::string_view, 4> steps;   // may be empty
};

constexpr std::string_view kMemcheck = "    compute-sanitizer --tool memcheck python {0}";
constexpr std::string_view kBlocking = "    CUDA_LAUNCH_BLOCKING=1 python {0}";
constexpr std::string_view kDoctor = "    dsafuzz doctor";

constexpr std::array kFaults{
    Known{"illegal_memory_access",
          "A kernel used an address that does not belong to it; the context of that process is lost.",
          {"An index that is not checked on the device, in a custom kernel or in an operator without an assert.",
           "A tensor freed or resized while a kernel still used it, for example on another stream.",
           "Sizes past 2^31 elements in a kernel that counts in 32 bits."},
          {"Let the tool name the kernel, its thread and the address:", kMemcheck,
           "Or wait for every kernel, so that the traceback shows the call at fault:", kBlocking}},
    Known{
        "misaligned_address",
        "A kernel read or wrote at an address that is no multiple of its access; the context of that process is lost.",
        {"A vectorised load from a tensor that starts inside another (a slice, a view of another dtype).",
         "A pointer cast to a wider type in a custom kernel.", ""},
        {"Let the tool name the kernel and the address:", kMemcheck, "", ""}},
    Known{"launch_failure",
          "A kernel ended for a reason the runtime does not name (unspecified launch failure); the context is lost.",
          {"An invalid address in shared or local memory, or a stack overflow.",
           "On ROCm: a failed device assert, which prints no line in the default build.", ""},
          {"Let the tool name the kernel:", kMemcheck, "Or wait for every kernel:", kBlocking}},
    Known{"no_kernel_image",
          "The installed PyTorch, or an extension, holds no code for this GPU.",
          {"A GPU newer than the build: install a PyTorch made for a newer CUDA.",
           "An extension compiled for other architectures: rebuild it with TORCH_CUDA_ARCH_LIST set.", ""},
          {"See what this machine has and what fits it:", kDoctor, "", ""}},
    Known{"invalid_device_function",
          "A kernel was asked for that the loaded code does not hold for this GPU.",
          {"An extension compiled for another architecture or another PyTorch: rebuild it.", "", ""},
          {"See what this machine has and what fits it:", kDoctor, "", ""}},
    Known{"oom",
          "The GPU's memory did not suffice for an allocation. No kernel failed, and the context is still good.",
          {"A batch, a sequence or an image larger than the ones before.",
           "Memory still held: by a graph that was kept (loss instead of loss.item()), or by another process.",
           "Fragments: try PYTORCH_ALLOC_CONF=expandable_segments:True (PYTORCH_CUDA_ALLOC_CONF before 2.9)."},
          {"See who holds the memory:", "    nvidia-smi", "", ""}},
    Known{"driver_missing",
          "PyTorch found no usable NVIDIA driver or GPU.",
          {"No driver is installed, or the container was started without --gpus all.",
           "CUDA_VISIBLE_DEVICES hides the devices.", ""},
          {"See what is missing:", kDoctor, "", ""}},
    Known{"driver_too_old",
          "The driver is older than the CUDA runtime that this PyTorch was built with.",
          {"A new wheel on an old driver: update the driver, or install the wheel of an older CUDA.", "", ""},
          {"See which versions fit together:", kDoctor, "", ""}},
    Known{"no_device",
          "The runtime sees no CUDA device.",
          {"CUDA_VISIBLE_DEVICES is empty or wrong, or the container has no GPU.", "", ""},
          {"See what hides it:", kDoctor, "", ""}},
    Known{"invalid_device",
          "A device number was used that this process does not see.",
          {"cuda:N with N from the number of visible devices on; CUDA_VISIBLE_DEVICES renumbers from 0.",
           "More ranks than GPUs.", ""},
          {"See which devices there are:", kDoctor, "", ""}},
    Known{"launch_timeout",
          "A kernel ran longer than the driver lets it on a GPU that also draws a screen.",
          {"A very large input for one kernel, or a loop that does not end.", "", ""},
          {"", "", "", ""}},
    Known{"invalid_value",
          "A CUDA call was given an argument it refuses. The context is still good.",
          {"A launch with 0 blocks or too many threads (an empty tensor), or a null pointer.", "", ""},
          {"", "", "", ""}},
    Known{
        "illegal_instruction",
        "A kernel met an instruction that this GPU does not have; the context is lost.",
        {"Code for another architecture, or memory of code overwritten.", "A call through a bad function pointer.", ""},
        {"Let the tool name the kernel:", kMemcheck, "", ""}},
    Known{"sigabrt",
          "A process was aborted (SIGABRT). The launcher's report does not say why.",
          {"A CUDA error in a destructor or another thread, which aborts.", "A failed assert of the C library or NCCL.",
           ""},
          {"Read the failing rank's own output, above the launcher's report; keep one file for each rank:",
           "    torchrun --redirects 3 --log-dir logs {0}", "", ""}},
    Known{"sigsegv",
          "A process died of an invalid address on the host (SIGSEGV).",
          {"An extension that reads a device pointer on the host, or was built for another PyTorch.", "", ""},
          {"Get the stack of the crash:", "    python -X faulthandler {0}", "", ""}},
    Known{"sigkill",
          "A process was killed (SIGKILL), mostly because the host ran out of memory.",
          {"Too many workers, or a data set held in each of them.", "", ""},
          {"Look for the reason:", "    dmesg | grep -i -E 'killed process|oom'", "", ""}},
    Known{"host_error",
          "An assert of host code failed: an ordinary bug of the program or a library, not of a kernel.",
          {"", "", ""},
          {"Get the stack of the crash:", "    gdb -ex run -ex bt --args python {0}", "", ""}},
    Known{"gpu_lost",
          "The GPU no longer answers the driver.",
          {"Power, heat or the slot: the card fell off the bus.", "A driver in a bad state: reboot.", ""},
          {"Read the kernel's own messages:", "    dmesg | grep -i -E 'xid|nvrm'", "Then:", kDoctor}},
    Known{"ecc_error",
          "The GPU's memory reported an error that could not be corrected: a fault of the hardware.",
          {"", "", ""},
          {"See the counts, and retire or exchange the card:", "    nvidia-smi -q -d ECC,PAGE_RETIREMENT", "", ""}},
    Known{"nvml_mismatch",
          "The driver's library and its kernel module are of different versions: it was updated while loaded.",
          {"", "", ""},
          {"Reboot, or unload and load the module; then check:", kDoctor, "", ""}},
    Known{"smi_", "nvidia-smi could not do what it was asked.", {"", "", ""}, {"See why:", kDoctor, "", ""}},
    Known{"nvml_",
          "NVML, the driver's management library, could not be used.",
          {"", "", ""},
          {"See why:", kDoctor, "", ""}},
    Known{"leak", "Device memory was not freed at the end. It harms no result.", {"", "", ""}, {"", "", "", ""}},
    Known{"double_free",
          "A kernel freed the same device pointer twice.",
          {"Two threads free one pointer, or a copied object frees it again.", "", ""},
          {"", "", "", ""}},
    Known{"use_after_free",
          "A kernel used memory that was freed before.",
          {"A tensor that went out of scope while another stream used it: record_stream, or keep a reference.", "", ""},
          {"", "", "", ""}},
    Known{"use_before_alloc",
          "A kernel may use memory before its stream-ordered allocation is done.",
          {"Two streams without an event between them.", "A false alarm of the tool, which knows no host order.", ""},
          {"", "", "", ""}},
    Known{"invalid_",
          "A kernel accessed memory outside its allocations.",
          {"A thread whose index is not compared with the size.", "An index from the input that nobody checks.",
           "A shared array smaller than the block needs."},
          {"", "", "", ""}},
    Known{"out_of_range", "A kernel used an address outside shared or local memory.", {"", "", ""}, {"", "", "", ""}},
    Known{"uninitialized",
          "A kernel read memory that nothing has written.",
          {"torch.empty where zeros were meant, or a kernel before it that does not cover the whole tensor.", "", ""},
          {"", "", "", ""}},
    Known{"uninitialised", "Memory was read that nothing has written.", {"", "", ""}, {"", "", "", ""}},
    Known{"race",
          "Two threads use one address without an order between them.",
          {"A __syncthreads() is missing between writing and reading shared memory.", "", ""},
          {"", "", "", ""}},
    Known{"hazard",
          "Two threads use one address without an order between them.",
          {"A __syncthreads() or __syncwarp() is missing between writing and reading shared memory.", "", ""},
          {"", "", "", ""}},
    Known{"deadlock", "Threads wait at a barrier that not all of them reach.", {"", "", ""}, {"", "", "", ""}},
    Known{"barrier",
          "A barrier is not reached by all threads that it waits for.",
          {"__syncthreads() in a branch, or after an early return.", "", ""},
          {"", "", "", ""}},
    Known{"target_failed",
          "The program under the tool ended with an error of its own. 0 errors then means nothing.",
          {"", "", ""},
          {"Read the program's own output above, and run it without the tool.", "", "", ""}},
    Known{"target_never_started",
          "The program never got to its first CUDA call under the tool. 0 errors then means nothing.",
          {"No NVIDIA driver is there, or the program starts others: pass --target-processes all.", "", ""},
          {"See whether the driver works:", kDoctor, "", ""}},
    Known{"sanitizer_usage",
          "compute-sanitizer did not understand its command line; nothing was run.",
          {"", "", ""},
          {"", "", "", ""}},
    Known{"sanitizer_internal",
          "compute-sanitizer itself failed; its result is incomplete.",
          {"", "", ""},
          {"", "", "", ""}},
    Known{"api_error",
          "A CUDA call returned an error, which programs often handle themselves. No kernel failed.",
          {"", "", ""},
          {"", "", "", ""}}};

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

const Known* known(std::string_view fault) {
  const auto it = std::ranges::find_if(kFaults, [&](const Known& k) { return fault.starts_with(k.fault); });
  return it == kFaults.end() ? nullptr : &*it;
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
      out.steps.emplace_back(kDoctor);
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

  if (const Known* fault = known(reading.primary_fault)) {
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
