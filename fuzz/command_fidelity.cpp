// `fidelity`: one corpus on two devices. vcuda claims to say what a GPU says; where a GPU is, this checks it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "fuzz/atomic_file.h"
#include "fuzz/commands.h"
#include "fuzz/regress.h"
#include "fuzz/row_counter.h"
#include "fuzz/worker_pool.h"
#include "repro/regress_compare.h"

namespace dsafuzz {
namespace {

Result<std::pair<Device, Device>> two_devices(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos || text.find(',', comma + 1) != std::string::npos) {
    return input_problem("'" + text.substr(0, 60) + "' is not two devices", "--devices", "vcuda,cuda:0");
  }
  const auto a = parse_device(text.substr(0, comma)), b = parse_device(text.substr(comma + 1));
  for (const auto* each : {&a, &b}) {
    if (!*each) return input_problem(each->error().what, "--devices", "vcuda,cuda:0");
  }
  return std::pair(*a, *b);
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

Result<int> fidelity(const FidelityFlags& flags) {
  const auto [a, b] = DSAFUZZ_TRY(two_devices(flags.devices));
  const RunSettings settings = DSAFUZZ_TRY(settings_of(flags.run, true));
  auto cases = DSAFUZZ_TRY(
      find_cases(flags.folders.empty() ? std::vector{shipped_folder("corpus/regressions")} : flags.folders));
  const std::size_t pinned = std::erase_if(cases, has_device_of_its_own);
  for (const Device& device : {a, b}) {
    RunSettings on = settings;
    on.device = device;
    DSAFUZZ_CHECK(check_present(on));
  }
  const RegressRun first = DSAFUZZ_TRY(run_on(a, cases, settings, flags.jobs));
  const RegressRun second = DSAFUZZ_TRY(run_on(b, cases, settings, flags.jobs));
  const RegressComparison comparison = compare_runs(first, a.text(), second, b.text());
  if (flags.json != "-") {
    std::fputs(comparison_text(comparison).c_str(), stdout);
    if (pinned > 0) std::printf("%zu left out: they are about one device only\n", pinned);
  }
  if (flags.json == "-") {
    std::fputs(comparison_json(comparison).c_str(), stdout);
  } else if (!flags.json.empty()) {
    DSAFUZZ_CHECK(write_whole(flags.json, comparison_json(comparison)));
  }
  return comparison.differences.empty() ? 0 : 1;
}

}  // namespace

int fidelity_command(const FidelityFlags& flags) {
  const auto code = fidelity(flags);
  return code ? *code : fail(code.error());
}

}  // namespace dsafuzz
