#include "fuzz/walk_checklist.h"

#include <algorithm>
#include <array>

#include "fuzz/legal_values.h"
#include "repro/checklist_case.h"
#include "repro/judge.h"

namespace dsafuzz {
namespace {

ChecklistItem named(const char* name) {
  return {.name = name, .checked = {}, .failed = {}, .unchecked = {}, .notes = {}};
}

bool is_failure(const Scenario* scenario, Verdict verdict) {
  return scenario ? scenario->is_finding(verdict) : is_bug(verdict);
}

// "half: device_assert at aten::nll_loss: Loss.cu ..."
void add_run(ChecklistItem& item, const std::string& what, const Replayed& run, const Scenario* scenario) {
  const Signature& s = run.diagnosis.signature;
  std::string line = what + ": " + std::string(to_text(s.verdict));
  if (is_failure(scenario, s.verdict)) {
    item.failed.push_back(line + " at " + s.op + ": " + s.text());
  } else if (s.verdict == Verdict::ok) {
    item.checked.push_back(line);
  } else {
    item.unchecked.push_back(line + ": it " + opinion(run.outcome));
  }
}

class Walk {
 public:
  Walk(const Case& c, const Scenario* scenario, const RunSettings& settings, const Replayer::StartWorkers& start)
      : case_(c), scenario_(scenario), settings_(settings), start_(start), replayer_(start) {}

  Result<Checklist> all() {
    const Replayed base = DSAFUZZ_TRY(replayer_.replay(case_, settings_));
    Checklist list{
        .file = {}, .name = case_.scenario, .id = case_id(case_), .device = base.outcome.device, .items = {}};
    list.items.push_back(data_ranges(case_, stated_bounds()));
    list.items.push_back(loss_dimensions(case_, base.outcome.results));
    list.items.push_back(DSAFUZZ_TRY(precisions(base)));
    list.items.push_back(DSAFUZZ_TRY(memory_growth(base)));
    list.items.push_back(DSAFUZZ_TRY(sanitizer()));
    list.items.push_back(DSAFUZZ_TRY(cpu()));
    list.items.push_back(recommended_guards(case_));
    return list;
  }

 private:
  std::map<std::string, Bounds> stated_bounds() const {
    std::map<std::string, Bounds> out;
    if (!scenario_) return out;
    for (const auto& [tensor, legal] : scenario_->legal) {
      if (const auto bounds = bounds_of(*scenario_, case_, tensor)) out.emplace(tensor, *bounds);
    }
    return out;
  }

  Result<ChecklistItem> precisions(const Replayed& base) {
    ChecklistItem item = named("mixed-precision casts");
    add_run(item, std::string(to_text(case_.precision)) + " (the case's own)", base, scenario_);
    for (const Precision precision : kPrecisions) {
      if (precision == case_.precision) continue;
      Case changed = case_;
      changed.precision = precision;
      add_run(item, std::string(to_text(precision)), DSAFUZZ_TRY(replayer_.replay(changed, settings_)), scenario_);
    }
    for (const std::string& mixed : mixed_dtypes(case_, base.outcome.results)) {
      item.notes.push_back("dtypes meet in " + mixed);
    }
    return item;
  }

  // The device's memory must not grow from run to run once the first has warmed it up.
  Result<ChecklistItem> memory_growth(const Replayed& base) {
    static constexpr int kRuns = 20;
    ChecklistItem item = named("memory growth");
    if (base.outcome.end != Outcome::End::returned) {
      item.unchecked.push_back("the case does not run to its end");
      return item;
    }
    const auto workers = DSAFUZZ_TRY(start_(settings_));
    std::vector<std::int64_t> peaks;
    for (int i = 0; i < kRuns; ++i) {
      const Outcome outcome = DSAFUZZ_TRY(workers->run(case_));
      if (outcome.end != Outcome::End::returned) {
        item.failed.push_back("run " + std::to_string(i + 1) + " in one process " + opinion(outcome));
        return item;
      }
      peaks.push_back(outcome.peak_device_bytes);
    }
    const std::int64_t first = peaks.front(), last = peaks.back();
    const std::string figures = "peak of " + std::to_string(kRuns) + " runs in one process: " + std::to_string(first) +
                                " bytes at first, " + std::to_string(last) + " at last";
    if (std::ranges::max(peaks) == 0 && settings_.device.kind != Device::Kind::vcuda) {
      item.unchecked.push_back("only the virtual device counts its memory; use --device vcuda");
    } else if (last > first && std::ranges::is_sorted(peaks)) {
      item.failed.push_back(figures + ": it grows");
    } else {
      item.checked.push_back(figures);
    }
    return item;
  }

  Result<ChecklistItem> sanitizer() {
    ChecklistItem item = named("sanitizer run");
    RunSettings watched = settings_;
    if (watched.device.kind != Device::Kind::vcuda) watched.device = {.kind = Device::Kind::vcuda};
    for (const Tool tool : {Tool::memcheck, Tool::initcheck, Tool::racecheck, Tool::synccheck}) {
      watched.tool = tool;
      const Replayed run = DSAFUZZ_TRY(replayer_.replay(case_, watched));
      add_run(item, std::string(to_text(tool)) + " on " + watched.device.text(), run, scenario_);
    }
    if (settings_.device.kind == Device::Kind::cuda) {
      item.unchecked.push_back("compute-sanitizer on the GPU: dsafuzz debug CASE --tool memcheck --device " +
                               settings_.device.text());
    }
    return item;
  }

  Result<ChecklistItem> cpu() {
    ChecklistItem item = named("the CPU's opinion");
    RunSettings on_cpu = settings_;
    on_cpu.device = {.kind = Device::Kind::cpu};
    const Outcome outcome = DSAFUZZ_TRY(replayer_.replay(case_, on_cpu)).outcome;
    const std::string line = "the CPU " + opinion(outcome);
    if (outcome.end == Outcome::End::returned) {
      item.checked.push_back(line);
    } else if (outcome.end == Outcome::End::not_run ||
               (outcome.end == Outcome::End::threw && !refuses_values(outcome))) {
      item.unchecked.push_back(line);
    } else {
      item.failed.push_back(line);
    }
    return item;
  }

  const Case& case_;
  const Scenario* scenario_;
  RunSettings settings_;
  const Replayer::StartWorkers& start_;
  Replayer replayer_;
};

}  // namespace

Result<Checklist> walk_checklist(const Case& c, const Scenario* scenario, const RunSettings& settings,
                                 const Replayer::StartWorkers& start) {
  return Walk(c, scenario, settings, start).all();
}

}  // namespace dsafuzz
