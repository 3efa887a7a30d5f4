#include "fuzz/replayer.h"

#include <algorithm>

#include "repro/judge.h"

namespace dsafuzz {

Result<Executor*> Replayer::workers(Workers& kept, const Case& c, const RunSettings& wanted) {
  // Workers know one folder of modules: cases without a module step share theirs.
  const bool has_module = std::ranges::any_of(c.steps, [](const Step& s) { return s.op.starts_with("module:"); });
  RunSettings has = kept.settings;
  if (!has_module) has.modules = wanted.modules;
  if (!kept.executor || has != wanted) {
    kept.executor.reset();  // the new ones need its memory
    kept.executor = DSAFUZZ_TRY(start_(wanted));
    kept.settings = wanted;
  }
  return kept.executor.get();
}

Result<Replayed> Replayer::replay(const Case& c, const RunSettings& settings) {
  Executor* device = DSAFUZZ_TRY(workers(device_, c, settings));
  Outcome outcome = DSAFUZZ_TRY(device->run_fresh(c));
  std::optional<Outcome> second;
  if (outcome.end == Outcome::End::returned && settings.device.kind != Device::Kind::cpu) {
    RunSettings on_cpu = settings;
    on_cpu.device = {.kind = Device::Kind::cpu};
    Executor* cpu = DSAFUZZ_TRY(workers(cpu_, c, on_cpu));
    second = DSAFUZZ_TRY(cpu->run(c));
  }
  Diagnosis diagnosis = judge(c, outcome, second ? &*second : nullptr);
  return Replayed{std::move(outcome), std::move(diagnosis)};
}

}  // namespace dsafuzz
