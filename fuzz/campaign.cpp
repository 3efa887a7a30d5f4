#include "fuzz/campaign.h"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "fuzz/campaign_plan.h"
#include "fuzz/class_reports.h"
#include "fuzz/engine_process.h"
#include "fuzz/examiner_thread.h"
#include "fuzz/progress.h"
#include "fuzz/random.h"
#include "fuzz/starting_cases.h"
#include "fuzz/stop_request.h"
#include "repro/case_text.h"

namespace dsafuzz {
namespace {

using Clock = std::chrono::steady_clock;

// An engine that dies is started again this often: a machine that kills them all must not keep us here.
constexpr int kMostRestarts = 3;
constexpr auto kTotalsEvery = std::chrono::seconds(5);
constexpr auto kGrace = std::chrono::seconds(15);  // for an engine to stop in good order

void add(const EngineStatus& status, ScenarioTotals& scenario, DeviceTotals& device) {
  scenario.executions += status.executions;
  scenario.seconds += status.seconds;
  scenario.restarts += status.restarts;
  scenario.left_out += status.left_out;
  scenario.features = std::max(scenario.features, status.features);
  device.executions += status.executions;
  device.seconds += status.seconds;
}

class Campaign {
 public:
  // `record` outlives it.
  Campaign(const CampaignOptions& options, Store store, std::vector<Scenario> scenarios, RunRecord& record);
  Result<CampaignSummary> run();

 private:
  struct Running {
    EngineProcess process;
    PlannedEngine plan;
    int restarts = 0;
    std::optional<Clock::time_point> told_at;  // to stop
    Clock::time_point started = Clock::now();

    // No worker can hold an engine longer than this, unless it is stuck itself.
    bool is_overdue() const {
      const RunSettings& s = process.options().settings;
      const std::chrono::duration<double> limit(plan.seconds);
      return plan.seconds > 0 && Clock::now() - started > limit + s.time_limit + s.start_limit + kGrace;
    }
  };

  Result<void> start_engine(const PlannedEngine& plan, int restarts);
  void examine_leftovers(ExaminerThread& examiner);
  void search(ExaminerThread& examiner);
  void reap();
  void ended(Running& engine, int status);
  void count(const PlannedEngine& plan, const EngineStatus& status);
  void record_totals();
  void trouble(const std::string& problem);
  void wait_and_show(ExaminerThread& examiner, const char* doing);
  void take_reports(ExaminerThread& examiner);
  ProgressFacts facts(const char* doing);
  DeviceSummary* summary_of(const std::string& device);

  const CampaignOptions& options_;
  const std::vector<Device> devices_;
  Store store_;
  RunRecord& record_;
  std::vector<Scenario> scenarios_;
  std::map<std::string, Scenario> by_name_;
  StopRequest stop_;
  Progress progress_;
  CampaignSummary summary_;
  std::deque<PlannedEngine> waiting_;
  std::vector<Running> running_;
  std::optional<Clock::time_point> search_start_;
  RunTotals recorded_;  // what record_ has of this campaign
  Clock::time_point recorded_at_ = Clock::now();
  std::optional<Problem> fatal_;  // an engine that could not start at all
};

Campaign::Campaign(const CampaignOptions& options, Store store, std::vector<Scenario> scenarios, RunRecord& record)
    : options_(options),
      devices_(devices_of(options)),
      store_(std::move(store)),
      record_(record),
      scenarios_(std::move(scenarios)),
      progress_(options.progress, options.terminal) {
  for (const Scenario& scenario : scenarios_) {
    by_name_.emplace(scenario.name, scenario);
    summary_.scenarios.emplace_back().name = scenario.name;
  }
  for (const Device& device : devices_) summary_.devices.emplace_back().name = device.text();
  summary_.known = store_.findings().size();
}

Result<CampaignSummary> Campaign::run() {
  DSAFUZZ_TRY(store_.recover_interrupted());
  DSAFUZZ_TRY(store_.absorb_additions());
  for (const Scenario& scenario : scenarios_) {
    DSAFUZZ_CHECK(add_starting_cases(store_, scenario, options_.method.from_legal));
    if (!options_.seeds.empty()) DSAFUZZ_CHECK(add_seeds(store_, scenario, options_.seeds));
  }
  {
    ExaminerThread examiner(options_, store_, by_name_, stop_.asked());
    examine_leftovers(examiner);
    if (options_.search) search(examiner);
    examiner.allow(!options_.search_only);
    while (!options_.search_only &&
           (examiner.busy() || (store_.candidate_count() > 0 && !stop_.asked() && examiner.problem().empty()))) {
      wait_and_show(examiner, stop_.asked() ? "stopping" : "examining");
    }
    examiner.finish();
    take_reports(examiner);
    if (const std::string problem = examiner.problem(); !problem.empty()) trouble(problem);
  }
  if (auto absorbed = store_.absorb_additions(); !absorbed) trouble(absorbed.error().text());
  if (auto classes = write_class_reports(store_); classes) {
    summary_.classes = std::move(*classes);
  } else {
    trouble(classes.error().text());
  }
  record_totals();
  summary_.waiting = store_.candidate_count();
  summary_.interrupted = stop_.asked();
  std::uint64_t executions = 0;
  for (const ScenarioSummary& scenario : summary_.scenarios) executions += scenario.executions;
  if (fatal_ && executions == 0 && summary_.findings.empty()) return std::unexpected(*fatal_);
  return std::move(summary_);
}

void Campaign::examine_leftovers(ExaminerThread& examiner) {
  if (options_.search_only) return;
  if (store_.candidate_count() > 0) progress_.say("Examining candidates of an earlier campaign first.");
  examiner.allow(true);
  while (examiner.busy() && !stop_.asked()) wait_and_show(examiner, "examining");
  examiner.allow(options_.runs == 0);
}

void Campaign::search(ExaminerThread& examiner) {
  const std::size_t at_once = options_.jobs * devices_.size();
  const auto plan = plan_engines(scenarios_.size(), options_.runs, options_.seconds, at_once, devices_.size());
  waiting_.assign(plan.begin(), plan.end());
  search_start_ = Clock::now();
  bool told = false;
  while (!running_.empty() || (!waiting_.empty() && !stop_.asked())) {
    while (!stop_.asked() && !waiting_.empty() && running_.size() < at_once) {
      const PlannedEngine next = waiting_.front();
      waiting_.pop_front();
      if (auto ok = start_engine(next, 0); !ok) {
        fatal_ = ok.error();
        trouble(ok.error().text());
        waiting_.clear();
      }
    }
    if (stop_.asked()) {
      if (!told) progress_.say("Stopping. Candidates are kept; Ctrl-C again ends at once.");
      told = true;
      for (Running& engine : running_) {
        if (!engine.told_at) {
          engine.process.ask_to_stop();
          engine.told_at = Clock::now();
        } else if (Clock::now() - *engine.told_at > kGrace) {
          engine.process.kill();
        }
      }
    }
    for (const Running& engine : running_) {
      if (engine.is_overdue()) engine.process.kill();
    }
    wait_and_show(examiner, stop_.asked() ? "stopping" : "fuzzing");
    reap();
  }
}

Result<void> Campaign::start_engine(const PlannedEngine& plan, int restarts) {
  const Scenario& scenario = scenarios_[plan.scenario];
  EngineOptions engine;
  engine.scenario = scenario.file;
  engine.out = store_.folder();
  engine.index = plan.index;
  // A restarted engine must not walk the same way into what killed it.
  engine.seed = restarts == 0 ? options_.seed : Random::mixed(options_.seed + static_cast<std::uint64_t>(restarts));
  engine.runs = plan.runs;
  engine.seconds = plan.seconds;
  engine.known_every = options_.known_every;
  engine.until_expected = options_.until_expected;
  engine.method = options_.method;
  engine.settings = options_.settings;
  engine.settings.device = devices_[plan.device];
  if (!engine.settings.tool) engine.settings.tool = scenario.tool;
  running_.push_back({.process = DSAFUZZ_TRY(
                          EngineProcess::start(options_.program, engine, store_.log_file({scenario.name, plan.index}))),
                      .plan = plan,
                      .restarts = restarts});
  return {};
}

void Campaign::reap() {
  std::vector<Running> still;
  std::vector<Running> over;
  for (Running& engine : running_) {
    engine.process.status();
    (engine.process.ended() ? over : still).push_back(std::move(engine));
  }
  running_.clear();
  for (Running& engine : still) running_.push_back(std::move(engine));
  for (Running& engine : over) ended(engine, *engine.process.ended());
}

void Campaign::ended(Running& engine, int status) {
  const EngineStatus last = engine.process.status();
  const EngineName name{scenarios_[engine.plan.scenario].name, engine.plan.index};
  count(engine.plan, last);
  if (auto recovered = store_.recover_interrupted(name, devices_[engine.plan.device].text()); !recovered) {
    trouble(recovered.error().text());
  }
  if (last.done && WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string how = WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                                              : "ended with exit code " + std::to_string(WEXITSTATUS(status));
  const std::string what = !last.problem.empty()
                               ? last.problem
                               : "engine " + name.text() + " " + how + " (see " + store_.log_file(name) + ")";
  if (stop_.asked() && last.problem.empty()) return;
  trouble(what);
  if (!last.problem.empty()) {
    fatal_ = Problem{Problem::Kind::environment, last.problem, "", ""};
    return;
  }
  progress_.say(what);
  PlannedEngine rest = engine.plan;
  if (rest.runs > 0) rest.runs -= std::min(rest.runs, last.executions);
  if (rest.seconds > 0) rest.seconds -= last.seconds;
  const bool over = options_.until_expected && last.met_expectation;
  const bool left = !over && (engine.plan.runs == 0 || rest.runs > 0) && (engine.plan.seconds == 0 || rest.seconds > 0);
  if (!left || engine.restarts >= kMostRestarts) return;
  if (auto ok = start_engine(rest, engine.restarts + 1); !ok) trouble(ok.error().text());
}

void Campaign::count(const PlannedEngine& plan, const EngineStatus& status) {
  ScenarioSummary& scenario = summary_.scenarios[plan.scenario];
  DeviceSummary& device = summary_.devices[plan.device];
  add(status, scenario, device);
  if (status.met_expectation) {
    scenario.expected_after = std::min(scenario.expected_after.value_or(status.seconds), status.seconds);
  }
  device.spares_taken += status.spares_taken;
  device.spares_ready += status.spares_ready;
  record_.add_versions(status.versions);
}

void Campaign::record_totals() {
  RunTotals now{{summary_.devices.begin(), summary_.devices.end()},
                {summary_.scenarios.begin(), summary_.scenarios.end()}};
  for (Running& engine : running_) {
    add(engine.process.status(), now.scenarios[engine.plan.scenario], now.devices[engine.plan.device]);
  }
  record_.add_totals(since(recorded_, now));
  recorded_ = std::move(now);
  recorded_at_ = Clock::now();
}

void Campaign::trouble(const std::string& problem) {
  summary_.problems.push_back(problem);
  record_.add_problem(problem);
}

DeviceSummary* Campaign::summary_of(const std::string& device) {
  const auto found = std::ranges::find(summary_.devices, device, &DeviceSummary::name);
  return found == summary_.devices.end() ? nullptr : &*found;
}

void Campaign::wait_and_show(ExaminerThread& examiner, const char* doing) {
  std::vector<pollfd> pipes;
  for (const Running& engine : running_) pipes.push_back({engine.process.status_fd(), POLLIN, 0});
  ::poll(pipes.data(), pipes.size(), 100);
  // A closed pipe is always readable; its engine is about to be reaped.
  for (const pollfd& pipe : pipes) {
    if (pipe.revents & POLLHUP) ::poll(nullptr, 0, 5);
  }
  for (Running& engine : running_) engine.process.status();
  take_reports(examiner);
  const ProgressFacts now = facts(doing);
  progress_.show(now);
  record_.sample(now);
  if (Clock::now() - recorded_at_ >= kTotalsEvery) record_totals();
}

void Campaign::take_reports(ExaminerThread& examiner) {
  for (Examination& report : examiner.take_reports()) {
    switch (report.end) {
      case Examination::End::confirmed:
      case Examination::End::flaky:
        summary_.findings.push_back({.scenario = report.minimal.scenario,
                                     .signature = report.signature.text(),
                                     .folder = report.folder,
                                     .device = report.device,
                                     .confirmed = report.confirmed,
                                     .confirmations = report.confirmations,
                                     .elsewhere = report.elsewhere,
                                     .elements = element_count(report.minimal),
                                     .one_minimal = report.one_minimal});
        record_.add({.signature = report.signature,
                     .scenario = report.minimal.scenario,
                     .device = report.device,
                     .confirmed = report.confirmed,
                     .confirmations = report.confirmations,
                     .elements = element_count(report.minimal),
                     .one_minimal = report.one_minimal});
        progress_.say("Found: " + report.signature.text() + " (" + report.minimal.scenario + "), confirmed " +
                      std::to_string(report.confirmed) + " of " + std::to_string(report.confirmations) +
                      (devices_.size() > 1 ? " on " + report.device : ""));
        if (report.redaction) {
          for (const std::string& sentence : sentences(*report.redaction)) progress_.say("  " + sentence);
        }
        if (DeviceSummary* device = summary_of(report.device)) {
          ++device->findings;
          ++device->shows;
        }
        for (const DeviceCheck& other : report.elsewhere) {
          DeviceSummary* device = summary_of(other.device);
          if (device && other.confirmed > 0) ++device->shows;
        }
        break;
      case Examination::End::not_confirmed: ++summary_.not_confirmed; break;
      case Examination::End::duplicate:
      case Examination::End::harmless:
      case Examination::End::stopped: break;
    }
  }
}

ProgressFacts Campaign::facts(const char* doing) {
  ProgressFacts f{.doing = doing};
  for (const ScenarioSummary& scenario : summary_.scenarios) {
    f.executions += scenario.executions;
    f.features += scenario.features;
    f.restarts += scenario.restarts;
  }
  for (Running& engine : running_) {
    const EngineStatus& status = engine.process.status();
    f.executions += status.executions;
    f.features += status.features;
    f.restarts += status.restarts;
    if (status.seconds > 0) f.per_second += static_cast<double>(status.executions) / status.seconds;
  }
  f.findings = summary_.findings.size();
  f.candidates = store_.candidate_count();
  f.engines = running_.size();
  if (search_start_ && (!running_.empty() || !waiting_.empty())) {
    if (options_.seconds > 0) {
      const double passed = std::chrono::duration<double>(Clock::now() - *search_start_).count();
      f.seconds_left = std::max(0.0, options_.seconds - passed);
    } else if (options_.runs > 0) {
      const std::uint64_t all = options_.runs * scenarios_.size();
      f.runs_left = all - std::min(all, f.executions);
    }
  }
  return f;
}

}  // namespace

std::vector<Device> devices_of(const CampaignOptions& options) {
  return options.devices.empty() ? std::vector{options.settings.device} : options.devices;
}

Result<CampaignSummary> run_campaign(const CampaignOptions& options) {
  if (options.scenarios.empty()) return input_problem("no scenario is given");
  if (options.jobs == 0) return input_problem("no job is allowed", "--jobs", "1 or more");
  std::vector<Scenario> scenarios = DSAFUZZ_TRY(load_scenarios(options.scenarios));
  Store store = DSAFUZZ_TRY(Store::open(options.out, Store::Access::exclusive));
  std::optional<RunRecord> own;
  if (!options.record) {
    own.emplace(DSAFUZZ_TRY(RunRecord::begin(store, {.kind = "fuzz",
                                                     .seed = options.seed,
                                                     .jobs = options.jobs,
                                                     .seconds = options.seconds,
                                                     .executions = options.runs})));
  }
  RunRecord& record = own ? *own : *options.record;
  Result<CampaignSummary> summary = Campaign(options, std::move(store), std::move(scenarios), record).run();
  const Result<void> recorded = !own      ? record.flush()
                                : summary ? own->end(summary->interrupted, exit_code_of(*summary))
                                          : own->end(false, summary.error().exit_code());
  if (summary && !recorded) {
    summary->problems.push_back("the run is not recorded whole: " + recorded.error().text());
  }
  return summary;
}

}  // namespace dsafuzz
