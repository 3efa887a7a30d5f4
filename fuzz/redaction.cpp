#include "fuzz/redaction.h"

#include <algorithm>

namespace dsafuzz {

Result<void> check_redactable(const Case& c) {
  const auto module = std::ranges::find_if(c.steps, [](const Step& step) { return step.op.starts_with("module:"); });
  if (module == c.steps.end()) return {};
  return input_problem("'" + module->op + "' holds weights that cannot be replaced", "--redact",
                       "write the module's failing call as a step of its own");
}

Result<void> check_redactable(const std::vector<Scenario>& scenarios) {
  for (const Scenario& scenario : scenarios) DSAFUZZ_CHECK(check_redactable(scenario.base));
  return {};
}

Result<RedactedCase> redact(const Case& c, const Signature& wanted, Trials& trials, const RedactionLimits& limits) {
  if (auto ok = check_redactable(c); !ok) return std::unexpected(ok.error());
  std::optional<Problem> problem;
  const bool silent = wanted.verdict == Verdict::silent;
  const auto shows_in = [&](bool fresh) {
    return [&, fresh](const Case& trial) {
      for (int i = 0; i < limits.tries && !problem && !(limits.stop && limits.stop()); ++i) {
        const Result<Judged> run = trials.judge(trial, fresh, silent);
        if (!run) {
          problem = run.error();
        } else if (run->signature() == wanted) {
          return true;
        }
      }
      return false;
    };
  };
  RedactedCase out = redacted(c, shows_in(false), limits.executions);
  // A worker that ran other cases may owe the failure to one of them.
  if (!problem && !shows_in(true)(out.the_case)) {
    const int spent = out.executions + 1;
    out = redacted(c, shows_in(true), limits.executions);
    out.executions += spent;
  }
  if (problem) return std::unexpected(*problem);
  return out;
}

}  // namespace dsafuzz
