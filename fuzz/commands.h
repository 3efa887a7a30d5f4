// The sub-commands of `dsafuzz`, each from parsed flags to an exit code: 0 nothing found or as expected, 1 findings,
// 2 usage or input error, 3 environment problem. They print to stdout; problems go to stderr in one line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/engine_options.h"
#include "fuzz/prune.h"
#include "repro/case.h"
#include "repro/executor.h"
#include "repro/result.h"
#include "repro/run_settings.h"

namespace dsafuzz {

// Flags that every command which runs cases has.
struct RunFlags {
  std::string device = "vcuda";
  std::string tool;        // empty: the scenario's or the finding's, else memcheck
  std::string modules;     // folder of TorchScript files; empty: beside the scenario or case
  double time_limit = 10;  // seconds for one case
  bool caching = false;
  bool cpp_stacks = false;
  bool json = false;
};
Result<RunSettings> settings_of(const RunFlags& flags, bool blocking);

struct FuzzFlags {
  RunFlags run;
  std::optional<std::string> devices;  // that are searched together, with commas between; run.device is then not used
  std::vector<std::string> scenarios;
  double seconds = 0;
  std::uint64_t runs = 0;
  std::uint64_t seed = 1;
  int jobs = 1;
  std::string out = "dsafuzz-out";
  std::string seeds;
  bool until_expected = false;
  SearchMethod method;
  bool search_only = false;  // candidates are kept, not examined
  int confirmations = 5;
  bool expect = false;  // compare with the scenarios' expectations
  bool run_reproducers = true;
  bool redact = false;  // findings without a user's data; corpus and candidates hold it
};
int fuzz_command(const FuzzFlags& flags);

struct ReplayFlags {
  RunFlags run;
  std::vector<std::string> cases;  // files, or folders with case.yaml and perhaps expect.yaml
  int repeat = 1;
  bool log = false;  // print what the child printed
};
int replay_command(const ReplayFlags& flags);

struct RegressFlags {
  RunFlags run;
  std::vector<std::string> folders;  // of cases, or case files
  std::vector<std::string> compare;  // two files that --json wrote: compares them and runs nothing; else empty
  std::string junit, sarif, json;    // files to write; empty: none; json "-": standard output instead of the table
  int confirmations = 5, jobs = 1;
  bool quiet = false;  // no progress, and only rows that are not as they should be
};
int regress_command(const RegressFlags& flags);

struct DebugFlags {
  RunFlags run;
  std::string the_case;  // a case file or a finding's folder
  std::string tool;      // as in repro/debug_plan.h
  std::string out = "dsafuzz-out";
};
// Runs the case under a debugging tool and says what that saw: 0 nothing wrong, 1 a fault, 3 no tool or no device.
int debug_command(const DebugFlags& flags);

struct FidelityFlags {
  RunFlags run;
  std::vector<std::string> folders;  // of cases; empty: the regression corpus shipped
  std::string devices;               // with commas between; empty: vcuda, cuda:0:own where it was built, cuda:0
  std::string json;                  // file; "-" is standard output; empty: none
  int jobs = 1;
};
// Whether devices say the same of every case, pair by pair: 0 they do, 1 some differ, 3 one of them is not there.
int fidelity_command(const FidelityFlags& flags);

struct ExamineFlags {
  RunFlags run;
  std::string the_case;
  std::string scenario;  // says what counts as a finding; may be empty
  std::string out = "dsafuzz-out";
  int confirmations = 5;
  int executions = 500;  // 0: do not reduce
  double seconds = 300;  // for the reduction
  int start_runs = 10;   // that measure how often the bug shows
  int jobs = 1;          // slow cases run at the same time
  bool redact = false;   // a user's data is replaced first
  std::optional<Case> given;  // instead of the file: nothing of it is written but what is found
  bool verify = false;   // only check that the case is minimal
  bool run_reproducers = true;
};
// Examines the case, prints the minimal one; or, to verify, prints the certificate or a smaller case.
int reduce_command(const ExamineFlags& flags);
// The case without a user's data, and showing what it showed. Nothing is written.
Result<Case> redacted_case(const Case& c, const RunFlags& run);
int emit_command(const ExamineFlags& flags);    // the same without reducing, prints the folder

struct ImportFlags {
  RunFlags run;                                  // for `reduce`
  std::vector<std::string> files;                // one case file, or files with tensors
  std::string op;                                // of the call that takes the tensors
  std::vector<std::string> arguments, literals;  // of that call: "target=labels", "reduction=mean"
  std::string name;                              // of the case; empty: after the operator
  bool backward = false, summarise = false;
  bool reduce = false;
  bool redact = false;
  std::string out;  // a file, with `reduce` a folder; empty: standard output
};
int import_command(const ImportFlags& flags);

struct MatrixFlags {
  RunFlags run;
  std::vector<std::string> operators;  // or ids of rows; empty: all
  std::string catalogue;               // empty: the one shipped
  std::string out;                     // a file; empty: standard output
  bool variants = true, html = false;
  int jobs = 1;
};
int matrix_command(const MatrixFlags& flags);

struct NightlyFlags {
  std::string config;   // a file (nightly_config.h)
  bool accept = false;  // runs nothing: what the last night saw goes into the baseline
};
int nightly_command(const NightlyFlags& flags);

struct PruneFlags {
  std::string out;
  KeepPolicy keep;
  bool dry_run = false;
};
int prune_command(const PruneFlags& flags);

struct MergeFlags {
  RunFlags run;
  std::string out;
  std::vector<std::string> from;  // other output folders
  bool minimise = true;
  int jobs = 1;
};
int merge_command(const MergeFlags& flags);

struct ChecklistFlags {
  RunFlags run;
  std::string the_case;  // a scenario, a case file or a folder with case.yaml
};
// Walks the prevention list: 0 nothing failed, 1 something did, 3 the case cannot be run on the device.
int checklist_command(const ChecklistFlags& flags);

struct ReportFlags {
  std::string out;
  std::string html, markdown, tensorboard;  // files and a folder; all empty: Markdown to standard output
  bool follow = false;                      // keep writing for TensorBoard while the run goes on
  bool database = true;                     // read campaign.db
};
int report_command(const ReportFlags& flags);  // returns only if the report cannot be started

struct TopFlags {
  std::string out;
  bool once = false;
  double interval = 1;  // seconds
};
int top_command(const TopFlags& flags);

struct CoverageFlags {
  RunFlags run;
  std::vector<std::string> folders;  // output folders of campaigns, or any with case files; empty: the shipped corpus
};
int coverage_command(const CoverageFlags& flags);

struct DoctorFlags {
  std::string from;                    // a folder that another run recorded; empty: this machine
  std::string record;                  // folder to write what was seen to; empty: nowhere
  std::string python;                  // empty: dsafuzz's own, else python3
  std::vector<std::string> libraries;  // libraries of kernels whose asserts are looked for
  bool json = false;
};
// Judges the machine: 0 no faults (there may be warnings), 1 faults, 2 usage, 3 nothing could be seen.
int doctor_command(const DoctorFlags& flags);

// Reads a log (`-`: standard input), says what happened and what to do. 1: it shows a fault; 0: none.
int explain_command(const std::string& path, bool json);

int check_command(const std::vector<std::string>& files);
int list_command(const std::string& folder, bool json);
int show_command(const std::string& the_case, bool json);

// The folder a path lies in, for module files.
std::string folder_of(const std::string& path);
// A folder that comes with dsafuzz, as seen from here: "scenarios", "corpus/seeds".
std::string shipped_folder(const std::string& name);
// Prints the problem in one line on stderr and returns its exit code.
int fail(const Problem& problem);

}  // namespace dsafuzz
