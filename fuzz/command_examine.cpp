// `reduce` and `emit`: one given case through the same examination that a campaign gives its candidates.
#include <cstdio>

#include "fuzz/commands.h"
#include "fuzz/examine.h"
#include "fuzz/run_reproducer.h"
#include "fuzz/worker_pool.h"
#include "repro/case_text.h"

namespace dsafuzz {
namespace {

Result<Examination> examine_case(const ExamineFlags& flags, bool reduce) {
  const Case c = DSAFUZZ_TRY(load_case(flags.the_case));
  std::map<std::string, Scenario> scenarios;
  if (!flags.scenario.empty()) {
    Scenario scenario = DSAFUZZ_TRY(load_scenario(flags.scenario));
    if (scenario.name != c.scenario)
      return input_problem("the case is of scenario '" + c.scenario + "', not '" + scenario.name + "'", "--scenario");
    scenarios.emplace(scenario.name, std::move(scenario));
  }
  RunSettings settings = DSAFUZZ_TRY(settings_of(flags.run, true));
  settings.cpp_stacks = true;  // for the earliest frame
  if (settings.modules.empty()) settings.modules = folder_of(flags.the_case);
  if (const auto scenario = scenarios.find(c.scenario); !settings.tool && scenario != scenarios.end()) {
    settings.tool = scenario->second.tool;
  }
  RunSettings cpu_settings = settings;
  cpu_settings.device = {Device::Kind::cpu, 0};
  const auto device = DSAFUZZ_TRY(start_workers(settings));
  const auto cpu = DSAFUZZ_TRY(start_workers(cpu_settings));
  Store store = DSAFUZZ_TRY(Store::open(flags.out, Store::Access::exclusive));
  ProcessReproducerRunner reproducers;
  ExamineOptions options;
  options.confirmations = flags.confirmations;
  options.executions = reduce ? flags.executions : 0;
  Candidate candidate;
  candidate.kind =
      Candidate::Kind::interrupted;  // as if met when a run was cut short: its signature is still to be seen
  candidate.signature.verdict = Verdict::silent;  // where the device accepts the case, the CPU is asked, too
  candidate.the_case = c;
  Examiner examiner(store, *device, cpu.get(), flags.run_reproducers ? &reproducers : nullptr, scenarios, options);
  return examiner.examine(candidate);
}

int report(const Examination& e, const std::string& out) {
  switch (e.end) {
    case Examination::End::confirmed:
    case Examination::End::flaky:
      std::fprintf(stderr, "dsafuzz: %s %s, confirmed %d of %d, in %d executions%s\n",
                   std::string(to_text(e.signature.verdict)).c_str(), e.signature.text().c_str(), e.confirmed,
                   e.confirmations, e.executions, e.one_minimal ? ", 1-minimal" : "");
      std::fprintf(stderr, "dsafuzz: written to %s\n", e.folder.c_str());
      return 1;
    case Examination::End::duplicate:
      std::fprintf(stderr, "dsafuzz: %s is in %s already\n", e.signature.text().c_str(), out.c_str());
      return 1;
    case Examination::End::not_confirmed:
    case Examination::End::harmless: std::fprintf(stderr, "dsafuzz: nothing to examine: %s\n", e.why.c_str()); return 0;
    case Examination::End::stopped: return 3;
  }
  std::unreachable();
}

}  // namespace

int reduce_command(const ExamineFlags& flags) {
  const auto examination = examine_case(flags, true);
  if (!examination) return fail(examination.error());
  if (!examination->folder.empty()) std::fputs(to_yaml(examination->minimal).c_str(), stdout);
  return report(*examination, flags.out);
}

int emit_command(const ExamineFlags& flags) {
  const auto examination = examine_case(flags, false);
  if (!examination) return fail(examination.error());
  if (!examination->folder.empty()) std::printf("%s\n", examination->folder.c_str());
  return report(*examination, flags.out);
}

}  // namespace dsafuzz
