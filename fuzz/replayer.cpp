#include "fuzz/replayer.h"

#include <algorithm>

#include "repro/judge.h"

namespace dsafuzz {

Result<Replayed> Replayer::replay(const Case& c, const RunSettings& settings) {
  // Workers know one folder of modules: cases without a module step share theirs.
  const bool has_module = std::ranges::any_of(c.steps, [](const Step& s) { return s.op.starts_with("module:"); });
  const auto ensure = [&](std::unique_ptr<Executor>& workers, const RunSettings& wanted) -> Result<void> {
    if (workers) {
      RunSettings has = workers->settings();
      if (!has_module) has.modules = wanted.modules;
      if (has == wanted) return {};
      workers.reset();  // the new ones need its memory
    }
    workers = DSAFUZZ_TRY(start_(wanted));
    return {};
  };
  DSAFUZZ_CHECK(ensure(device_, settings));
  Outcome outcome = DSAFUZZ_TRY(device_->run_fresh(c));
  std::optional<Outcome> second;
  if (outcome.end == Outcome::End::returned && settings.device.kind != Device::Kind::cpu) {
    RunSettings on_cpu = settings;
    on_cpu.device = {.kind = Device::Kind::cpu};
    DSAFUZZ_CHECK(ensure(cpu_, on_cpu));
    second = DSAFUZZ_TRY(cpu_->run(c));
  }
  Diagnosis diagnosis = judge(c, outcome, second ? &*second : nullptr);
  return Replayed{std::move(outcome), std::move(diagnosis)};
}

}  // namespace dsafuzz
