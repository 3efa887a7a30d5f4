// `reduce` and `emit`: one given case through the same examination that a campaign gives its candidates.
#include <unistd.h>

#include <cstdio>

#include "fuzz/case_file.h"
#include "fuzz/commands.h"
#include "fuzz/examine.h"
#include "fuzz/own_kernels.h"
#include "fuzz/private_names.h"
#include "fuzz/progress.h"
#include "fuzz/redaction.h"
#include "fuzz/run_reproducer.h"
#include "fuzz/worker_pool.h"
#include "repro/case_text.h"
#include "repro/escape.h"

namespace dsafuzz {
namespace {

// "reducing  31 executions | 1 operator, 4 elements | at most 469 more"
std::string progress_text(int executions, const Case& best, const ExamineFlags& flags) {
  return "reducing  " + std::to_string(executions) + " executions | " + std::to_string(best.steps.size()) +
         (best.steps.size() == 1 ? " operator, " : " operators, ") + std::to_string(element_count(best)) +
         " elements | at most " + std::to_string(flags.executions - executions) + " more";
}

constexpr const char* kNobodysName = "redacted";

// The case, what says whether it fails, and workers to run it.
struct Setting {
  Case the_case;
  std::map<std::string, Scenario> scenarios;
  RunSettings settings;
  std::unique_ptr<Executor> device, cpu;
};

Result<Setting> set_up(const ExamineFlags& flags) {
  Setting out;
  CaseFile file{.path = flags.the_case};
  if (flags.given) {
    file.the_case = *flags.given;
  } else {
    file = DSAFUZZ_TRY(load_runnable_case(flags.the_case));
  }
  out.the_case = std::move(file.the_case);
  if (flags.redact) DSAFUZZ_CHECK(check_redactable(out.the_case));
  if (!flags.scenario.empty()) {
    file.scenario = DSAFUZZ_TRY(load_scenario(flags.scenario));
    if (file.scenario->name != out.the_case.scenario)
      return input_problem("the case is of scenario '" + out.the_case.scenario + "', not '" + file.scenario->name + "'",
                           "--scenario");
  }
  const RunSettings asked = DSAFUZZ_TRY(settings_of(flags.run, true));
  DSAFUZZ_CHECK(check_kernels_are_atens(asked.device));
  out.settings = settings_for(file, asked);
  out.settings.device = asked.device;  // one is chosen here, whatever an expectation was written for
  out.settings.cpp_stacks = true;      // for the earliest frame
  if (file.scenario) {
    if (flags.redact) file.scenario->name = kNobodysName;
    out.scenarios.emplace(file.scenario->name, std::move(*file.scenario));
  }
  // The name is the owner's too. It says nothing of how the case runs.
  if (flags.redact) out.the_case.scenario = kNobodysName;
  RunSettings cpu_settings = out.settings;
  cpu_settings.device = {Device::Kind::cpu, 0};
  out.device = DSAFUZZ_TRY(start_workers(out.settings));
  out.cpu = DSAFUZZ_TRY(start_workers(cpu_settings));
  return out;
}

Result<Examination> examine_case(const ExamineFlags& flags, bool reduce) {
  Setting setting = DSAFUZZ_TRY(set_up(flags));
  Store store = DSAFUZZ_TRY(Store::open(flags.out, Store::Access::exclusive));
  ProcessReproducerRunner reproducers;
  StatusLine status(stderr, isatty(STDERR_FILENO) != 0);
  ExamineOptions options;
  options.confirmations = flags.confirmations;
  options.executions = reduce ? flags.executions : 0;
  options.seconds = flags.seconds;
  options.start_runs = flags.start_runs;
  options.jobs = flags.jobs;
  options.start_more = [settings = setting.settings] { return start_workers(settings); };
  if (flags.redact) options.redact = private_names({folder_of(flags.the_case), flags.out});
  options.progress = [&](int executions, const Case& best) {
    if (status.is_due()) status.show(progress_text(executions, best, flags));
  };
  Candidate candidate;
  candidate.kind =
      Candidate::Kind::interrupted;  // as if met when a run was cut short: its signature is still to be seen
  candidate.the_case = setting.the_case;
  Examiner examiner(store, *setting.device, setting.cpu.get(), flags.run_reproducers ? &reproducers : nullptr,
                    setting.scenarios, options);
  return examiner.examine(candidate);
}

// "1-minimal under 37 edits, all refused: sizes 4, values 30, arguments 3"
std::string certificate_text(const std::vector<PassCount>& certificate) {
  int sum = 0;
  std::string passes;
  for (const PassCount& pass : certificate) {
    sum += pass.edits;
    if (pass.edits > 0) passes += (passes.empty() ? ": " : ", ") + pass.pass + " " + std::to_string(pass.edits);
  }
  return "1-minimal under " + std::to_string(sum) + " edits, all refused" + passes;
}

void say_what_was_redacted(const RedactedCase& redaction) {
  for (const std::string& sentence : sentences(redaction)) std::fprintf(stderr, "dsafuzz: %s\n", sentence.c_str());
}

int report(const Examination& e, const ExamineFlags& flags) {
  switch (e.end) {
    case Examination::End::confirmed:
    case Examination::End::flaky:
      std::fprintf(stderr, "dsafuzz: %s %s, confirmed %d of %d, in %d executions\n",
                   std::string(to_text(e.signature.verdict)).c_str(), e.signature.text().c_str(), e.confirmed,
                   e.confirmations, e.executions);
      if (e.redaction) say_what_was_redacted(*e.redaction);
      if (e.one_minimal) std::fprintf(stderr, "dsafuzz: %s\n", certificate_text(e.certificate).c_str());
      std::fprintf(stderr, "dsafuzz: written to %s\n", e.folder.c_str());
      return 1;
    case Examination::End::duplicate:
      std::fprintf(stderr, "dsafuzz: %s is in %s already\n", e.signature.text().c_str(), flags.out.c_str());
      if (!flags.redact) return 1;
      std::fprintf(stderr, "dsafuzz: that finding stays as it is, with the data it holds; choose another --out\n");
      return 2;
    case Examination::End::not_confirmed:
    case Examination::End::harmless:
      std::fprintf(stderr,
                   "dsafuzz: the case shows no bug: %s\n"
                   "dsafuzz: `dsafuzz replay --log CASE` prints all of it; another --device or --tool may show one\n",
                   comment_text(e.why, 500).c_str());
      return 0;
    case Examination::End::stopped: return 3;
  }
  std::unreachable();
}

Result<int> verify_case(const ExamineFlags& flags) {
  Setting setting = DSAFUZZ_TRY(set_up(flags));
  Trials trials(*setting.device, setting.cpu.get(), setting.scenarios);
  trials.use_more([settings = setting.settings] { return start_workers(settings); }, flags.jobs);
  const Judged judged = DSAFUZZ_TRY(trials.judge(setting.the_case, true, true));
  const Signature& wanted = judged.signature();
  if (!trials.is_finding(setting.the_case, wanted.verdict)) {
    return input_problem("the case shows no bug: " + std::string(to_text(wanted.verdict)) + " " + judged.outcome.error,
                         flags.the_case, "`dsafuzz replay --log` prints all of it");
  }
  ReduceLimits limits;
  limits.executions = flags.executions;
  limits.stop = [&] { return trials.problem().has_value(); };
  limits.at_once = [&] { return trials.at_once(); };
  const Result<Verification> proof =
      verify_minimal(setting.the_case, wanted, trials.try_cases(false, wanted.verdict == Verdict::silent), limits);
  if (trials.problem()) return std::unexpected(*trials.problem());
  if (!proof) return std::unexpected(proof.error());
  if (proof->one_minimal) {
    std::printf("%s\n", certificate_text(proof->certificate).c_str());
    return 0;
  }
  if (!proof->smaller) {
    return input_problem("not all single edits were tried within " + std::to_string(flags.executions) + " executions",
                         "--executions", "raise it");
  }
  std::fprintf(stderr, "dsafuzz: not minimal: an edit of the pass '%s' still shows %s\n", proof->pass.c_str(),
               wanted.text().c_str());
  std::fputs(to_yaml(*proof->smaller).c_str(), stdout);
  return 1;
}

}  // namespace

int reduce_command(const ExamineFlags& flags) {
  if (flags.verify) {
    const Result<int> exit_code = verify_case(flags);
    return exit_code ? *exit_code : fail(exit_code.error());
  }
  const auto examination = examine_case(flags, true);
  if (!examination) return fail(examination.error());
  if (!examination->folder.empty()) std::fputs(to_yaml(examination->minimal).c_str(), stdout);
  return report(*examination, flags);
}

Result<Case> redacted_case(const Case& c, const RunFlags& run) {
  Setting setting = DSAFUZZ_TRY(set_up({.run = run, .redact = true, .given = c}));
  Trials trials(*setting.device, setting.cpu.get(), setting.scenarios);
  const Judged judged = DSAFUZZ_TRY(trials.judge(setting.the_case, true, true));
  const RedactedCase redaction = DSAFUZZ_TRY(redact(setting.the_case, judged.signature(), trials, {}));
  std::fprintf(stderr, "dsafuzz: %s before and after\n", std::string(to_text(judged.signature().verdict)).c_str());
  say_what_was_redacted(redaction);
  return redaction.the_case;
}

int emit_command(const ExamineFlags& flags) {
  const auto examination = examine_case(flags, false);
  if (!examination) return fail(examination.error());
  if (!examination->folder.empty()) std::printf("%s\n", examination->folder.c_str());
  return report(*examination, flags);
}

}  // namespace dsafuzz
