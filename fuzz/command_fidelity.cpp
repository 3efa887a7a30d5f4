// `fidelity`: one corpus on two devices or three. vcuda claims to say what a GPU says; where a GPU is, this checks it,
// and with the same kernels on the GPU it tells the virtual device's mistakes from those of the kernels.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "fuzz/atomic_file.h"
#include "fuzz/commands.h"
#include "fuzz/own_kernels.h"
#include "fuzz/regress.h"
#include "fuzz/row_counter.h"
#include "fuzz/worker_pool.h"
#include "repro/regress_compare.h"

namespace dsafuzz {
namespace {

Result<std::vector<Device>> devices_named(const std::string& text) {
  static constexpr const char* kExample = "vcuda,cuda:0 or vcuda,cuda:0:own,cuda:0";
  auto devices = DSAFUZZ_TRY(parse_devices(text, kExample));
  if (devices.size() != 2 && devices.size() != 3) {
    return input_problem("'" + text.substr(0, 60) + "' is not two devices or three", "--devices", kExample);
  }
  return devices;
}

// What a case shows on the CPU is no question of two devices.
bool has_device_of_its_own(const CasePath& path) {
  const auto file = load_case_file(path.path);
  return file && file->expected && file->expected->device;
}

// A case with nothing in it but a tensor and its copy: what fails is the device.
Result<void> check_present(const RunSettings& settings) {
  Case c;
  c.scenario = "device_probe";
  TensorSpec x;
  x.name = "x";
  x.shape = {Extent{"1"}};
  c.tensors = {x};
  c.steps = {{.results = {"y"}, .op = "aten::clone", .arguments = {{.name = "", .value = {Name{"x"}}}}}};
  Replayer replayer(start_workers);
  const Replayed run = DSAFUZZ_TRY(replayer.replay(c, settings));
  if (run.outcome.end == Outcome::End::returned) return {};
  const std::string& error = run.outcome.error;
  return environment_problem(
      "the device is not there: " + error.substr(0, std::min(error.find('\n'), std::size_t{300})),
      settings.device.text(), "run it on a machine with a GPU; `dsafuzz doctor` says what is missing");
}

Result<RegressRun> run_on(const Device& device, const std::vector<CasePath>& cases, const RunSettings& settings,
                          int jobs) {
  RegressOptions options;
  options.cases = cases;
  options.settings = settings;
  options.settings.device = device;
  options.confirmations = 1;
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  // Several processes on one GPU are not the same as one.
  options.jobs = jobs > 0 ? static_cast<std::size_t>(jobs) : device.kind == Device::Kind::cuda ? 1 : cores;
  options.start_workers = start_workers;
  RowCounter counter("fidelity on " + device.text(), "cases");
  options.progress = [&](std::size_t done, std::size_t all) { counter.show(done, all); };
  const auto start = std::chrono::steady_clock::now();
  RegressRun run = DSAFUZZ_TRY(run_regress(options));
  run.program = DSAFUZZ_VERSION;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

std::string still_atens_text(const Device& device) {
  std::string out = "\nATen's kernels run on " + device.text() + " too for\n";
  for (const StillAtens& each : still_atens()) {
    out += "  " + std::string(each.operators) + ": " + std::string(each.reason) + "\n";
  }
  return out;
}

// Of two devices their comparison. Of three, version 1 of the format "dsafuzz-fidelity": {devices, comparisons: one for
// each pair, still_atens: [{operators, reason}]}, the last where a device has dsafuzz's own kernels.
std::string json_of(const std::vector<Device>& devices, const std::vector<RegressComparison>& comparisons, bool own) {
  using Json = nlohmann::ordered_json;
  if (comparisons.size() == 1) return comparison_json(comparisons.front());
  Json out{{"format", "dsafuzz-fidelity"}, {"version", 1}, {"devices", Json::array()}, {"comparisons", Json::array()}};
  for (const Device& device : devices) out["devices"].push_back(device.text());
  for (const RegressComparison& each : comparisons) out["comparisons"].push_back(Json::parse(comparison_json(each)));
  if (!own) return out.dump(2) + "\n";
  for (const StillAtens& each : still_atens()) {
    out["still_atens"].push_back({{"operators", each.operators}, {"reason", each.reason}});
  }
  return out.dump(2) + "\n";
}

Result<int> fidelity(const FidelityFlags& flags) {
  const bool leaves_own_out = flags.devices.empty() && !have_own_kernels();
  const auto devices = DSAFUZZ_TRY(devices_named(!flags.devices.empty() ? flags.devices
                                                 : leaves_own_out       ? "vcuda,cuda:0"
                                                                        : "vcuda,cuda:0:own,cuda:0"));
  const RunSettings settings = DSAFUZZ_TRY(settings_of(flags.run, true));
  auto cases = DSAFUZZ_TRY(
      find_cases(flags.folders.empty() ? std::vector{shipped_folder("corpus/regressions")} : flags.folders));
  const std::size_t pinned = std::erase_if(cases, has_device_of_its_own);
  for (const Device& device : devices) {
    RunSettings on = settings;
    on.device = device;
    DSAFUZZ_CHECK(check_present(on));
  }
  std::vector<RegressRun> runs;
  for (const Device& device : devices) runs.push_back(DSAFUZZ_TRY(run_on(device, cases, settings, flags.jobs)));
  std::vector<RegressComparison> comparisons;
  for (std::size_t a = 0; a < runs.size(); ++a) {
    for (std::size_t b = a + 1; b < runs.size(); ++b) {
      comparisons.push_back(compare_runs(runs[a], devices[a].text(), runs[b], devices[b].text()));
    }
  }
  const auto own = std::ranges::find(devices, true, &Device::own_kernels);
  const std::string json = json_of(devices, comparisons, own != devices.end());
  if (flags.json != "-") {
    for (const RegressComparison& comparison : comparisons) {
      if (&comparison != comparisons.data()) std::fputs("\n", stdout);
      std::fputs(comparison_text(comparison).c_str(), stdout);
    }
    if (pinned > 0) std::printf("%zu left out: they are about one device only\n", pinned);
    if (own != devices.end()) std::fputs(still_atens_text(*own).c_str(), stdout);
    if (leaves_own_out) std::puts("cuda:0:own left out: dsafuzz was built without nvcc");
  }
  if (flags.json == "-") {
    std::fputs(json.c_str(), stdout);
  } else if (!flags.json.empty()) {
    DSAFUZZ_CHECK(write_whole(flags.json, json));
  }
  const bool agree = std::ranges::all_of(comparisons, [](const auto& c) { return c.differences.empty(); });
  return agree ? 0 : 1;
}

}  // namespace

int fidelity_command(const FidelityFlags& flags) {
  const auto code = fidelity(flags);
  return code ? *code : fail(code.error());
}

}  // namespace dsafuzz
