// A campaign: engines search, an examiner turns what they met into findings, and a person sees how it goes.
//
// Deterministic for a number of runs: the same scenarios, seed, runs and folder content give the same findings with
// byte-identical minimal cases, whatever --jobs says and however fast the machine is. For that, engines share nothing
// while they run (each reads the corpus as it was at the start, and what they add is joined at the end), and candidates
// are examined after the last engine has ended, in the order of scenario, engine and execution. Without a number of
// runs, candidates are examined while the search goes on, and time decides how far it gets.
//
// Candidates that an earlier, interrupted campaign left in the folder are examined first.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/engine_options.h"
#include "fuzz/examine.h"
#include "fuzz/run_record.h"
#include "repro/executor.h"

namespace dsafuzz {

using StartWorkers = std::function<Result<std::unique_ptr<Executor>>(const RunSettings&)>;

struct CampaignOptions {
  std::vector<std::string> scenarios;  // files, at least one; names differ
  RunSettings settings;                // of the search; the examiner always blocks
  std::vector<Device> devices;         // that are searched, with one corpus for all; empty: that of `settings`
  double seconds = 0;                  // for the search; 0: no limit
  std::uint64_t runs = 0;              // executions for each scenario; 0: no limit
  std::uint64_t seed = 1;
  std::size_t jobs = 1;  // engines at once on each device
  std::string out = "dsafuzz-out";
  bool until_expected = false;  // a scenario's engines end when its expected signature is met
  SearchMethod method;
  bool search = true;                  // false: only examines what earlier campaigns left
  bool search_only = false;            // candidates stay in the folder, for the next campaign to examine
  std::string seeds;                   // folder with SCENARIO/*.yaml; empty, or without the scenario: only its base
  std::uint64_t known_every = 0;       // known_filter.h; 0: by device
  std::optional<PrivateNames> redact;  // examine.h
  int confirmations = 5;
  int reduce_executions = 500;
  std::string program = "/proc/self/exe";   // run as `program engine ARGUMENTS` (engine_options.h)
  StartWorkers start_workers;               // for the examiner, called on its thread: the device, and the CPU
  ReproducerRunner* reproducers = nullptr;  // null: reproducers are written, not run
  RunRecord* record = nullptr;              // the run that this is a part of; null: it is one of its own
  std::FILE* progress = nullptr;            // null: silent
  bool terminal = false;                    // progress is one
};

struct ScenarioSummary : ScenarioTotals {
  std::optional<double> expected_after;  // seconds of search until its expectation was met
};

struct DeviceSummary : DeviceTotals {
  std::uint64_t spares_taken = 0, spares_ready = 0;  // executor.h
  std::size_t shows = 0;  // new ones, met on any device, whose minimal case fails there in the same way
};

struct FindingSummary {
  std::string scenario, signature, folder;
  std::string device;  // where it was met and confirmed
  int confirmed = 0, confirmations = 0;
  std::vector<DeviceCheck> elsewhere;  // what the campaign's other devices say of the minimal case
  std::int64_t elements = 0;           // of the minimal case
  bool one_minimal = false;
};

struct CampaignSummary {
  std::vector<ScenarioSummary> scenarios;  // in the order given
  std::vector<DeviceSummary> devices;      // in the order given
  std::vector<FindingSummary> findings;    // new ones, in the order found
  std::map<std::string, int> classes;      // findings of the folder by the check that is missing, new and known
  std::size_t known = 0;                   // findings in the folder before
  int not_confirmed = 0;                   // set aside
  std::size_t waiting = 0;                 // candidates not examined: the next campaign begins with them
  bool interrupted = false;
  std::vector<std::string> problems;  // what went wrong on the way: lost engines, a full disk
};
// The text for a person; ends with a newline.
std::string to_text(const CampaignSummary& summary);
// 1 where the folder has a finding; else 3 where something went wrong on the way, for then nothing found means little;
// else 0.
int exit_code_of(const CampaignSummary& summary);

// Call from the main thread: engines die with the thread that calls. Ctrl-C (SIGINT) or SIGTERM stops the engines and
// the examiner in good order; a second one ends the process at once, with exit code 130.
// Problem: a scenario, seed or folder that cannot be used, or no engine could run at all.
Result<CampaignSummary> run_campaign(const CampaignOptions& options);

// The devices that are searched: at least one.
std::vector<Device> devices_of(const CampaignOptions& options);

}  // namespace dsafuzz
