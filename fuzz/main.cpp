// dsafuzz: the command line. Parses flags and hands them to the commands; decides nothing itself.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <limits>
#include <thread>

#include "fuzz/commands.h"
#include "fuzz/engine.h"
#include "fuzz/engine_options.h"
#include "fuzz/worker_pool.h"
#include "repro/debug_plan.h"

namespace dsafuzz {
namespace {

// CLI11's own reading wraps negative numbers, caps large ones and lets NaN through all its ranges.
template <class T>
std::string not_a_number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  const bool good = whole && value >= 0 && value <= std::numeric_limits<T>::max();  // neither NaN nor infinite
  return good ? "" : "'" + text + "' is not a number of 0 or more";
}

void add_run_flags(CLI::App& app, RunFlags& flags) {
  app.add_option("--device", flags.device, "cpu, vcuda[:N] (virtual, the default) or cuda:N")->capture_default_str();
  app.add_option("--time-limit", flags.time_limit, "seconds one case may take")
      ->capture_default_str()
      ->check(not_a_number<double>)
      ->check(CLI::Range(0.05, 3600.0));
  app.add_option("--modules", flags.modules, "folder of TorchScript files; default: beside the scenario or case");
  app.add_option("--tool", flags.tool, "memcheck, initcheck, racecheck, synccheck or none; default: the scenario's");
  app.add_flag("--caching", flags.caching, "use the caching allocator, which hides some memory faults");
  app.add_flag("--cpp-stacks", flags.cpp_stacks, "ask LibTorch for C++ stacks");
}

constexpr const char* kRedactHelp =
    "for others to see: replace floating contents by random ones and names by neutral ones, as far as the bug stays";

void add_examine_flags(CLI::App& app, ExamineFlags& flags) {
  app.add_option("case", flags.the_case, "a case file, a folder with case.yaml, or a scenario for its default case")
      ->required();
  app.add_option("--scenario", flags.scenario, "the scenario that says what counts as a finding");
  app.add_option("--out", flags.out, "folder for the finding")->capture_default_str();
  app.add_option("--confirm", flags.confirmations, "fresh processes that must agree")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_flag("!--no-run", flags.run_reproducers, "write reproducers without running them");
  app.add_flag("--redact", flags.redact, kRedactHelp);
  add_run_flags(app, flags.run);
}

int engine_command(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 2, argv + argc);
  const auto options = parse_engine_arguments(arguments);
  if (!options) return fail(options.error());
  const auto workers = start_workers(options->settings);
  if (!workers) return fail(workers.error());
  return run_engine(*options, **workers);
}

int run(int argc, char** argv) {
  // The search's child process: not for people, so it is not in the help.
  if (argc > 1 && std::string_view(argv[1]) == "engine") return engine_command(argc, argv);

  CLI::App app(
      "Finds inputs that trigger CUDA device-side asserts and memory faults in PyTorch programs,\n"
      "and reduces each to a minimal reproducer. Runs without a GPU on the virtual device `vcuda`.",
      "dsafuzz");
  app.require_subcommand(1);
  app.set_version_flag("--version", "dsafuzz " DSAFUZZ_VERSION);
  app.footer("Exit codes: 0 nothing found or as expected, 1 findings, 2 usage or input error, 3 environment problem.");

  FuzzFlags fuzz;
  CLI::App* fuzz_app = app.add_subcommand("fuzz", "search scenarios for failing cases, reduce and confirm them");
  fuzz_app->add_option("scenario", fuzz.scenarios, "scenario files")->required();
  fuzz_app->add_option("--seconds", fuzz.seconds, "search time; 0: no limit")
      ->check(not_a_number<double>)
      ->check(CLI::Range(0.0, 1e9));
  fuzz_app->add_option("--runs", fuzz.runs, "executions for each scenario; 0: no limit")
      ->check(not_a_number<std::uint64_t>);
  fuzz_app->add_option("--seed", fuzz.seed, "the same seed and runs give the same findings")
      ->capture_default_str()
      ->check(not_a_number<std::uint64_t>);
  fuzz_app->add_option("--jobs", fuzz.jobs, "engines at once, on each device")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  fuzz_app->add_option("--out", fuzz.out, "folder for corpus and findings; a later run resumes from it")
      ->capture_default_str();
  fuzz_app->add_option("--seeds", fuzz.seeds, "folder with SCENARIO/*.yaml to start from");
  fuzz_app->add_option("--confirm", fuzz.confirmations, "fresh processes that must agree")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  fuzz_app->add_flag("--until-expected", fuzz.until_expected, "end a scenario's search when its expectation is met");
  fuzz_app->add_flag("--search-only", fuzz.search_only, "do not examine what is met; the next run does");
  const std::string comparison = "For comparison";
  fuzz_app->add_flag("--from-legal", fuzz.method.from_legal, "start from legal inputs only")->group(comparison);
  fuzz_app->add_flag("!--no-feedback", fuzz.method.feedback, "mutate the seeds only")->group(comparison);
  fuzz_app->add_flag("!--bytes", fuzz.method.structured, "mutate bytes, not what they mean")->group(comparison);
  fuzz_app->add_flag("--redact", fuzz.redact, kRedactHelp);
  fuzz_app->add_flag("--expect", fuzz.expect, "exit 0 if and only if each scenario's expectation was met")
      ->excludes("--redact");  // it names tensors
  fuzz_app->add_flag("!--no-run", fuzz.run_reproducers, "write reproducers without running them");
  fuzz_app->add_flag("--json", fuzz.run.json, "print the summary as JSON");
  add_run_flags(*fuzz_app, fuzz.run);
  fuzz_app
      ->add_option("--devices", fuzz.devices,
                   "search on several devices with one corpus: cuda:0,cuda:1; instead of --device")
      ->excludes("--device");

  ReplayFlags replay;
  CLI::App* replay_app = app.add_subcommand("replay", "run cases, each in a fresh process, and say what happened");
  replay_app
      ->add_option("case", replay.cases,
                   "case files, folders with case.yaml and expect.yaml, or scenarios for their default cases")
      ->required();
  replay_app->add_option("--repeat", replay.repeat, "runs of each case")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  replay_app->add_flag("--log", replay.log, "print what the process printed");
  replay_app->add_flag("--json", replay.run.json, "one JSON object a case and line");
  add_run_flags(*replay_app, replay.run);

  RegressFlags regress;
  CLI::App* regress_app =
      app.add_subcommand("regress", "replay a folder of cases and report which do not show what they should");
  auto* regress_folders = regress_app->add_option(
      "folder", regress.folders, "folders with case.yaml and expect.yaml, findings, or case files, and all below");
  regress_app->add_option("--compare", regress.compare, "compare two runs that --json wrote, instead of running")
      ->expected(2)
      ->excludes(regress_folders);
  regress_app->add_option("--json", regress.json, "write the run or the comparison; - is standard output");
  regress_app->add_option("--junit", regress.junit, "write JUnit XML");
  regress_app->add_option("--sarif", regress.sarif, "write SARIF 2.1.0");
  regress_app->add_option("--confirm", regress.confirmations, "fresh processes that are asked before a case differs")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  regress_app->add_option("--jobs", regress.jobs, "cases at once; default: all cores")
      ->default_val(std::max(1u, std::thread::hardware_concurrency()))
      ->check(CLI::Range(1, 256));
  regress_app->add_flag("--quiet", regress.quiet, "no progress, and only cases that are not as they should be");
  add_run_flags(*regress_app, regress.run);

  DebugFlags debug;
  CLI::App* debug_app = app.add_subcommand("debug", "run a case under a debugging tool and say what it saw first");
  debug_app
      ->add_option("case", debug.the_case, "a case file, a folder with case.yaml, or a scenario for its default case")
      ->required();
  debug_app->add_option("--tool", debug.tool, kDebugToolWords)->required();
  debug_app->add_option("--device", debug.run.device, "vcuda[:N] (virtual, the default) or cuda:N")
      ->capture_default_str();
  debug.run.time_limit = 600;
  debug_app->add_option("--time-limit", debug.run.time_limit, "seconds one run may take")
      ->capture_default_str()
      ->check(not_a_number<double>)
      ->check(CLI::Range(1.0, 86400.0));
  debug_app->add_option("--modules", debug.run.modules, "folder of TorchScript files; default: beside the case");
  debug_app->add_option("--out", debug.out, "folder for program, scripts, logs and core dump")->capture_default_str();
  debug_app->add_flag("--caching", debug.run.caching, "use the caching allocator, which hides some memory faults");
  debug_app->add_flag("--json", debug.run.json, "one object with all that was seen");
  debug_app->footer(
      "Exit codes: 0 nothing wrong was seen, 1 a fault, 2 usage or input error, 3 no such tool or device.");

  FidelityFlags fidelity;
  CLI::App* fidelity_app =
      app.add_subcommand("fidelity", "run cases on several devices and print where two of them say different things");
  fidelity_app->add_option("folder", fidelity.folders,
                           "folders with cases, or case files; default: the corpus shipped");
  fidelity_app->add_option(
      "--devices", fidelity.devices,
      "two or three; cuda:N:own is cuda:N with dsafuzz's own kernels in the place of ATen's; default: "
      "vcuda,cuda:0:own,cuda:0, without the second where nvcc was not there to build it");
  fidelity_app->add_option("--json", fidelity.json, "write the comparison; - is standard output");
  fidelity_app->add_option("--jobs", fidelity.jobs, "cases at once; default: all cores, on a GPU 1")
      ->default_val(0)
      ->check(CLI::Range(0, 256));
  fidelity_app->add_option("--time-limit", fidelity.run.time_limit, "seconds one case may take")
      ->capture_default_str()
      ->check(not_a_number<double>)
      ->check(CLI::Range(0.05, 3600.0));
  fidelity_app->footer("Exit codes: 0 no differences, 1 differences, 2 usage or input error, 3 a device is not there.");

  ExamineFlags reduce;
  CLI::App* reduce_app = app.add_subcommand("reduce", "shrink a failing case, confirm it, write its finding, print it");
  add_examine_flags(*reduce_app, reduce);
  reduce_app->add_option("--executions", reduce.executions, "runs to spend on reduction")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  reduce_app
      ->add_option("--seconds", reduce.seconds, "time to spend on reduction; the best so far is kept; 0: no limit")
      ->capture_default_str()
      ->check(not_a_number<double>)
      ->check(CLI::Range(0.0, 1e9));
  reduce_app
      ->add_option("--start-runs", reduce.start_runs, "runs that measure how often the bug shows; 1: it always does")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  reduce_app->add_option("--jobs", reduce.jobs, "slow cases run at once; changes no result; default: all cores")
      ->default_val(std::max(1u, std::thread::hardware_concurrency()))
      ->check(CLI::Range(1, 256));
  reduce_app
      ->add_flag("--verify", reduce.verify,
                 "only check that the case is minimal: exit 0 and a certificate, or 1 and a smaller case")
      ->excludes("--redact");

  ExamineFlags emit;
  CLI::App* emit_app =
      app.add_subcommand("emit", "confirm a failing case as it is and write its reproducers and report");
  add_examine_flags(*emit_app, emit);

  ImportFlags import;
  CLI::App* import_app =
      app.add_subcommand("import", "make a case of your own failing call: a case file, or tensors and an operator");
  import_app->add_option("file", import.files, "a case file; or .npz, .npy, .pt files with the call's tensors")
      ->required();
  import_app->add_option("--op", import.op,
                         "the operator: aten::cross_entropy_loss, or torch.nn.functional.cross_entropy");
  import_app->add_option("--arg", import.arguments, "a tensor of the call: target=labels; or labels, by position")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  import_app->add_option("--set", import.literals, "any other argument: ignore_index=-100, reduction=mean")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  import_app->add_option("--name", import.name, "of the case; default: after the operator");
  import_app->add_flag("--backward", import.backward, "the failure is in backward");
  import_app->add_flag("--summarise", import.summarise, "replace long floating contents by random ones of their range");
  import_app->add_option("--out", import.out, "file for the case; with --reduce, folder for the finding");
  import_app->add_flag("--reduce", import.reduce, "shrink it at once, as `reduce` does");
  import_app->add_flag("--redact", import.redact, kRedactHelp);
  add_run_flags(*import_app, import.run);

  MatrixFlags matrix;
  CLI::App* matrix_app = app.add_subcommand(
      "matrix", "the error-parity table: what each device says of every input in the catalogue of device asserts");
  matrix_app->add_option("operator", matrix.operators, "rows that name this operator, or have this id; default: all");
  auto* matrix_json = matrix_app->add_flag("--json", matrix.run.json, "a list with one object for each row");
  matrix_app->add_flag("--html", matrix.html, "one self-contained page with a filter")->excludes(matrix_json);
  matrix_app->add_option("--out", matrix.out, "write to this file");
  matrix_app->add_flag("!--no-variants", matrix.variants, "only the catalogue's own inputs");
  matrix_app->add_option("--jobs", matrix.jobs, "rows at once; default: all cores")
      ->default_val(std::max(1u, std::thread::hardware_concurrency()))
      ->check(CLI::Range(1, 256));
  matrix_app->add_option("--catalogue", matrix.catalogue, "folder with device_asserts.tsv and cases/ID.yaml");

  ChecklistFlags checklist;
  CLI::App* checklist_app = app.add_subcommand(
      "checklist",
      "walk the prevention list: data ranges, loss inputs, precision, memory growth, sanitizer, CPU, guards");
  checklist_app->add_option("case", checklist.the_case, "a scenario, a case file, or a folder with case.yaml")
      ->required();
  checklist_app->add_flag("--json", checklist.run.json, "one object with all items");
  add_run_flags(*checklist_app, checklist.run);
  checklist_app->footer(
      "Exit codes: 0 nothing failed, 1 something did, 2 usage or input error, 3 environment problem.");

  CoverageFlags coverage;
  CLI::App* coverage_app =
      app.add_subcommand("coverage", "run the cases of a folder and say which device asserts they reach and trigger");
  coverage_app->add_option("folder", coverage.folders,
                           "output folders of `fuzz`, or folders with case files; default: the corpus shipped");
  coverage_app->add_flag("--json", coverage.run.json, "print all sites as JSON");
  add_run_flags(*coverage_app, coverage.run);

  NightlyFlags nightly;
  CLI::App* nightly_app = app.add_subcommand(
      "nightly", "replay the regression corpus, fuzz, reduce, compare with the night before, merge, report");
  nightly_app->add_option("config", nightly.config, "a YAML file; scripts/examples/nightly.yaml shows all keys")
      ->required();
  nightly_app->add_flag("--accept", nightly.accept,
                        "run nothing; put what the last night saw into the baseline of accepted findings");
  nightly_app->footer(
      "Exit codes: 0 nothing to do, 1 findings that are not accepted or regression cases that differ,\n"
      "2 usage or input error, 3 something could not be done.");

  PruneFlags prune;
  CLI::App* prune_app =
      app.add_subcommand("prune", "remove old runs, logs and candidates of an output folder; never a finding");
  prune_app->add_option("out", prune.out, "an output folder of `fuzz` or `nightly`")->required();
  prune_app->add_option("--days", prune.keep.days, "keep what is not older")->check(not_a_number<std::uint64_t>);
  prune_app->add_option("--runs", prune.keep.runs, "keep this many of the last runs")
      ->check(not_a_number<std::uint64_t>);
  prune_app->add_flag("--dry-run", prune.dry_run, "only say what would be removed");

  MergeFlags merge;
  CLI::App* merge_app = app.add_subcommand(
      "merge", "join output folders of `fuzz`, and keep of their corpus only what its coverage needs");
  merge_app->add_option("out", merge.out, "the folder that everything goes into")->required();
  merge_app->add_option("from", merge.from, "folders to take from; they stay as they are");
  merge_app->add_flag("!--no-minimise", merge.minimise, "join only");
  merge_app->add_option("--jobs", merge.jobs, "scenarios at once; default: all cores")
      ->default_val(std::max(1u, std::thread::hardware_concurrency()))
      ->check(CLI::Range(1, 256));
  add_run_flags(*merge_app, merge.run);

  ReportFlags report;
  CLI::App* report_app =
      app.add_subcommand("report", "what an output folder holds: what is new, what to do; as a page, too");
  report_app->add_option("out", report.out, "an output folder of `fuzz` or `nightly`")->required();
  report_app->add_option("--html", report.html, "write one self-contained page");
  report_app->add_option("--markdown", report.markdown, "write a summary; default, without other flags: print it");
  auto* events =
      report_app->add_option("--tensorboard", report.tensorboard, "write scalars for TensorBoard to this folder");
  report_app->add_flag("--follow", report.follow, "keep writing them while the run goes on")->needs(events);
  report_app->add_flag("!--no-database", report.database, "leave campaign.db alone; report the folders' findings");

  TopFlags top;
  CLI::App* top_app =
      app.add_subcommand("top", "watch the run that uses an output folder, or see how its last one went");
  top_app->add_option("out", top.out, "an output folder of `fuzz` or `nightly`")->required();
  top_app->add_flag("--once", top.once, "print it once");
  top_app->add_option("--interval", top.interval, "seconds between looks")
      ->capture_default_str()
      ->check(not_a_number<double>)
      ->check(CLI::Range(0.1, 3600.0));

  DoctorFlags doctor;
  CLI::App* doctor_app = app.add_subcommand(
      "doctor", "examine this machine (driver, CUDA, PyTorch, libraries, settings): what is wrong, what mends it");
  auto* doctor_from = doctor_app->add_option("--from", doctor.from, "judge what another machine recorded");
  doctor_app->add_option("--record", doctor.record, "save what was seen, without names, UUIDs and serial numbers")
      ->excludes(doctor_from);
  doctor_app->add_option("--python", doctor.python, "the Python whose PyTorch is examined; default: dsafuzz's own");
  doctor_app->add_option("--library", doctor.libraries, "a library of kernels that should hold its asserts");
  doctor_app->add_flag("--json", doctor.json, "one object with all lines and facts");
  doctor_app->footer("Exit codes: 0 no faults, 1 faults, 2 usage or input error, 3 nothing could be examined.");

  std::vector<std::string> files;
  CLI::App* check_app = app.add_subcommand("check", "validate scenario and case files");
  check_app->add_option("file", files, "scenario or case files")->required();

  std::string folder;
  bool list_json = false;
  CLI::App* list_app =
      app.add_subcommand("list", "list the scenarios of a folder, or the findings of an output folder");
  list_app->add_option("folder", folder, "default: the scenarios shipped");
  list_app->add_flag("--json", list_json);

  std::string shown;
  bool show_json = false;
  CLI::App* show_app = app.add_subcommand("show", "print a case with its concrete shapes and values");
  show_app->add_option("case", shown, "a case file, or a scenario for its default case")->required();
  show_app->add_flag("--json", show_json);

  std::string log;
  bool explain_json = false;
  CLI::App* explain_app =
      app.add_subcommand("explain", "read a pasted error log: what failed, why, what is legal, what to do next");
  explain_app->add_option("log", log, "a file, or - for standard input")->required();
  explain_app->add_flag("--json", explain_json, "the whole reading and the advice as one object");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 has exit codes of its own; ours say 2 for usage.
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (*fuzz_app) return fuzz_command(fuzz);
  if (*replay_app) return replay_command(replay);
  if (*regress_app) return regress_command(regress);
  if (*import_app) return import_command(import);
  if (*debug_app) return debug_command(debug);
  if (*fidelity_app) return fidelity_command(fidelity);
  if (*reduce_app) return reduce_command(reduce);
  if (*emit_app) return emit_command(emit);
  if (*checklist_app) return checklist_command(checklist);
  if (*coverage_app) return coverage_command(coverage);
  if (*matrix_app) return matrix_command(matrix);
  if (*nightly_app) return nightly_command(nightly);
  if (*prune_app) return prune_command(prune);
  if (*merge_app) return merge_command(merge);
  if (*report_app) return report_command(report);
  if (*top_app) return top_command(top);
  if (*doctor_app) return doctor_command(doctor);
  if (*check_app) return check_command(files);
  if (*explain_app) return explain_command(log, explain_json);
  if (*list_app) return list_command(folder, list_json);
  return show_command(shown, show_json);
}

}  // namespace
}  // namespace dsafuzz

int main(int argc, char** argv) { return dsafuzz::run(argc, argv); }
