#include "fuzz/examine.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "fuzz/class_reports.h"
#include "repro/case_text.h"
#include "repro/emit.h"
#include "repro/read_file.h"
#include "repro/redact_finding.h"
#include "repro/scan.h"

namespace dsafuzz {
namespace {

constexpr int kHangStartRuns = 2;         // each takes the whole time limit
constexpr int kFlakyConfirmations = 10;  // at least, for a bug that comes and goes
constexpr std::size_t kModuleBytesLimit = std::size_t{1} << 30;

std::string sentence_of(const std::string& file, const Device& device, const RunReport& report) {
  const std::string ran = "`" + file + "` was run on " + device.text();
  if (!report.ran) return "`" + file + "` could not be run on " + device.text() + " here.";
  switch (report.exit_code) {
    case 0: return ran + ": the bug does not show.";
    case 1: return ran + ": the bug shows.";
    case 125: return ran + " and said that it cannot run here.";
  }
  return ran + " and ended with code " + std::to_string(report.exit_code) + ".";
}

// Where an emitted file is run before it is handed out: the device it was found on, and the CPU, which every machine
// has.
std::vector<Device> devices_to_run(const Device& found_on) {
  const Device cpu{Device::Kind::cpu, 0};
  return found_on == cpu ? std::vector{cpu} : std::vector{found_on, cpu};
}

// What a run that was not interesting had to say: its error's first line, else the last line it printed.
std::string said(const Outcome& outcome) {
  if (!outcome.error.empty()) return ": " + std::string(first_line(outcome.error));
  std::string_view log = outcome.log;
  while (log.ends_with('\n')) log.remove_suffix(1);
  if (log.empty()) return ", and it printed nothing";
  return ": " + std::string(log.substr(log.rfind('\n') + 1));
}

nlohmann::ordered_json json_of(const RunReport& report) {
  return {{"ran", report.ran}, {"exit_code", report.exit_code}, {"said", report.said}};
}

}  // namespace

Examiner::Examiner(Store& store, Executor& device, Executor* cpu, ReproducerRunner* reproducers,
                   const std::map<std::string, Scenario>& scenarios, ExamineOptions options)
    : store_(store),
      device_(device),
      cpu_(cpu),
      reproducers_(reproducers),
      scenarios_(scenarios),
      trials_(device, cpu, scenarios),
      options_(std::move(options)) {
  trials_.use_more(options_.start_more, options_.jobs);
}

Result<Examination> Examiner::examine(const Candidate& candidate) {
  Examination result;
  result.device = device_.settings().device.text();
  const bool suspect = candidate.kind == Candidate::Kind::suspect;
  // What an interrupted run would have shown is not known, and may be silence.
  const bool silent = suspect || candidate.kind == Candidate::Kind::interrupted ||
                      candidate.signature.verdict == Verdict::silent;
  const Case& original = candidate.the_case;
  slips_.clear();
  const auto done = [&](Examination::End end, std::string why = {}) -> Result<Examination> {
    result.end = end;
    result.why = std::move(why);
    if (suspect) {
      if (auto ok = store_.mark_answered(candidate.signature); !ok) return std::unexpected(ok.error());
    }
    store_.remove_candidate(candidate);
    return result;
  };
  result.signature = candidate.signature;
  if (!suspect && store_.has_finding(candidate.signature)) return done(Examination::End::duplicate, "known already");

  // Alone, in processes that ran nothing before. A bug that shows now and then gets as many tries as confirmations.
  bool shows = false;
  int tries = 0;
  Outcome last;
  for (; tries < std::max(1, options_.confirmations) && !shows; ++tries) {
    if (stopped()) return result;
    const auto alone = trials_.judge(original, true, silent);
    if (!alone) return std::unexpected(alone.error());
    result.signature = alone->signature();
    if (result.signature.verdict == Verdict::setup_failed) {
      return environment_problem("the case cannot be run here: " + alone->outcome.error,
                                 device_.settings().device.text());
    }
    shows = trials_.is_finding(original, result.signature.verdict);
    last = alone->outcome;
    if (candidate.kind == Candidate::Kind::suspect && !shows) break;
  }
  if (!shows) {
    if (suspect) return done(Examination::End::harmless, "the CPU accepts it too, and no contract is broken");
    if (candidate.kind == Candidate::Kind::interrupted) {
      return done(Examination::End::harmless, std::string(to_text(result.signature.verdict)) + " on " +
                                                  device_.settings().device.text() + " in each of " +
                                                  std::to_string(tries) + " fresh processes" + said(last));
    }
    result.end = Examination::End::not_confirmed;
    result.why = "met as " + candidate.signature.text() + "; alone in a fresh process it did not fail";
    if (auto ok = store_.set_aside(candidate, result.why); !ok) return std::unexpected(ok.error());
    return result;
  }
  if (store_.has_finding(result.signature)) return done(Examination::End::duplicate, "known already");

  const Signature wanted = result.signature;
  Case start = original;
  if (options_.redact) {
    RedactionLimits limits{.tries = tries, .stop = [this] { return stopped(); }};
    if (wanted.verdict == Verdict::hang) limits.executions = options_.hang_executions;
    Result<RedactedCase> redaction = redact(original, wanted, trials_, limits);
    if (!redaction) return std::unexpected(redaction.error());
    if (stopped()) return result;
    start = redaction->the_case;
    result.redaction = std::move(*redaction);
  }
  Result<Finding> finding = confirmed(start, wanted, result);
  if (!finding) return std::unexpected(finding.error());
  if (stopped()) return result;
  for (const auto& [signature, found] : slips_) {
    if (auto ok = keep_slip(candidate, signature, found); !ok) return std::unexpected(ok.error());
  }
  if (finding->confirmed == 0) {
    result.end = Examination::End::not_confirmed;
    result.why = "it failed once in a fresh process and never again in " + std::to_string(options_.confirmations);
    if (auto ok = store_.set_aside(candidate, result.why); !ok) return std::unexpected(ok.error());
    return result;
  }
  if (options_.redact) finding = redacted(std::move(*finding), *options_.redact);
  Result<std::string> folder = publish(*finding, result.redaction);
  if (!folder) return std::unexpected(folder.error());
  result.folder = std::move(*folder);
  const bool always = finding->confirmed == finding->confirmations;
  return done(always ? Examination::End::confirmed : Examination::End::flaky);
}

// Reduces with persistent or with fresh workers. Returns the start where it cannot be reduced.
Result<Case> Examiner::reduced(const Case& start, const Signature& wanted, bool fresh, Examination& examination) {
  const bool hangs = wanted.verdict == Verdict::hang;
  ReduceLimits limits;
  limits.executions = hangs ? options_.hang_executions : options_.executions;
  limits.seconds = options_.seconds;
  if (options_.seconds > 0) {
    limits.clock = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
  }
  limits.start_runs = hangs ? std::min(kHangStartRuns, options_.start_runs) : options_.start_runs;
  limits.stop = [&] { return trials_.problem() || stopped(); };
  limits.at_once = [&] { return trials_.at_once(); };
  limits.progress = options_.progress;
  const TryCases try_cases = trials_.try_cases(fresh, wanted.verdict == Verdict::silent);
  const Result<Reduction> reduction = reduce(start, wanted, try_cases, limits);
  if (trials_.problem()) return std::unexpected(*trials_.problem());
  if (!reduction) return start;
  examination.executions += reduction->executions;
  examination.certificate = reduction->certificate;
  examination.one_minimal = reduction->one_minimal;
  examination.comes_and_goes = reduction->start_shown < reduction->start_runs;
  for (const Slip& slip : reduction->slips) slips_.emplace_back(slip.signature, slip.found);
  return reduction->minimal;
}

Result<Finding> Examiner::confirmed(const Case& original, const Signature& wanted, Examination& examination) {
  const bool silent = wanted.verdict == Verdict::silent;
  Result<Case> minimal = reduced(original, wanted, false, examination);
  if (!minimal) return std::unexpected(minimal.error());
  Finding finding{.signature = wanted, .original = original, .minimal = *minimal};
  finding.settings = device_.settings();

  // 0: with the persistent worker's minimum; 1: reduced again with fresh workers, where that one owed its failure to
  // an earlier run; 2: as first met.
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (attempt == 1) {
      if (finding.minimal == original) continue;
      minimal = reduced(original, wanted, true, examination);
      if (!minimal) return std::unexpected(minimal.error());
      finding.minimal = *minimal;
    } else if (attempt == 2) {
      if (finding.minimal == original) break;
      finding.minimal = original;
      examination.one_minimal = false;
    }
    finding.confirmed = finding.confirmations = 0;
    const int runs =
        examination.comes_and_goes ? std::max(kFlakyConfirmations, options_.confirmations) : options_.confirmations;
    for (int i = 0; i < runs; ++i) {
      if (stopped()) return finding;
      const auto run = trials_.judge(finding.minimal, true, silent);
      if (!run) return std::unexpected(run.error());
      ++finding.confirmations;
      if (run->signature() != wanted) continue;
      ++finding.confirmed;
      finding.outcome = run->outcome;
      finding.evidence = run->diagnosis.evidence;
      finding.earliest_frame = run->diagnosis.earliest_frame;
      finding.advice = advise(finding.minimal, run->diagnosis);
    }
    if (finding.confirmed > 0) break;
  }
  if (cpu_ && !stopped()) {
    const Result<Outcome> second = cpu_->run_fresh(finding.minimal);
    if (!second) return std::unexpected(second.error());
    finding.cpu_opinion = opinion(*second);
  }
  if (finding.confirmed > 0) {
    auto checks = checked_elsewhere(finding.minimal, wanted);
    if (!checks) return std::unexpected(checks.error());
    finding.elsewhere = examination.elsewhere = std::move(*checks);
  }
  finding.executions = examination.executions;
  finding.one_minimal = examination.one_minimal;
  examination.minimal = finding.minimal;
  examination.confirmed = finding.confirmed;
  examination.confirmations = finding.confirmations;
  return finding;
}

// A device that cannot run it is an answer too: the finding on the first device stands.
Result<std::vector<DeviceCheck>> Examiner::checked_elsewhere(const Case& minimal, const Signature& wanted) {
  std::vector<DeviceCheck> checks;
  for (const Device& device : options_.elsewhere) {
    DeviceCheck check{.device = device.text()};
    const Result<Executor*> workers = options_.workers_on(device);
    if (!workers) check.instead = workers.error().what;
    for (int i = 0; workers && i < options_.confirmations && !stopped(); ++i) {
      const auto run = Trials(**workers, cpu_, scenarios_).judge(minimal, true, wanted.verdict == Verdict::silent);
      if (!run) return std::unexpected(run.error());
      ++check.of;
      if (run->signature() == wanted) {
        ++check.confirmed;
      } else {
        check.instead = to_text(run->signature().verdict);
        if (const std::string text = run->signature().text(); !text.empty()) check.instead += ": " + text;
      }
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

// Writes the files where nobody looks yet, runs them, notes the results, and makes all of it appear at once.
Result<std::string> Examiner::publish(const Finding& finding, const std::optional<RedactedCase>& redaction) {
  Result<StagedFinding> staged = store_.stage(finding.signature);
  if (!staged) return std::unexpected(staged.error());
  std::vector<std::pair<const char*, std::string>> files{
      {"case.yaml", to_yaml(finding.minimal)}, {"original.yaml", to_yaml(finding.original)},
      {"repro.py", emit_python(finding)},      {"test_repro.py", emit_pytest(finding)},
      {"repro.cpp", emit_cpp(finding)},        {"repro_test.cpp", emit_gtest(finding)},
      {"CMakeLists.txt", emit_cmake(finding)}, {"log.txt", finding.outcome.log},
      {"issue.md", emit_issue(finding)}};
  if (const auto cuda = emit_cuda(finding)) files.emplace_back("repro.cu", *cuda);
  for (const auto& [name, content] : files) {
    if (auto ok = staged->write(name, content); !ok) return std::unexpected(ok.error());
  }
  // A TorchScript step needs its file beside the case, or neither case nor reproducer can be run.
  for (const Step& step : finding.original.steps) {
    if (!step.op.starts_with("module:")) continue;
    const std::string name = step.op.substr(std::string_view("module:").size());
    const Result<std::string> content = read_file(finding.settings.modules + "/" + name, kModuleBytesLimit);
    if (!content) return std::unexpected(content.error());
    if (auto ok = staged->write(name, *content); !ok) return std::unexpected(ok.error());
  }
  std::string report = emit_report(finding), json_text = emit_json(finding);
  auto json = nlohmann::ordered_json::parse(json_text, nullptr, false);
  if (redaction) {
    const std::vector<std::string> said = sentences(*redaction);
    report += "\n## What was taken out\n\n";
    for (const std::string& sentence : said) report += "- " + sentence + "\n";
    if (json.is_object()) json["redaction"] = said;
  }
  if (reproducers_) {
    report += "\n## The reproducers\n\n";
    auto runs = nlohmann::ordered_json::object();
    for (const Device& device : devices_to_run(finding.settings.device)) {
      RunReport python = reproducers_->run_python(staged->folder() + "/repro.py", device);
      RunReport cpp = reproducers_->run_cpp(staged->folder(), device);
      if (options_.redact) {
        python.said = redacted_text(std::move(python.said), *options_.redact);
        cpp.said = redacted_text(std::move(cpp.said), *options_.redact);
      }
      report += "- " + sentence_of("repro.py", device, python) + "\n- " + sentence_of("repro.cpp", device, cpp) + "\n";
      runs[device.text()] = {{"python", json_of(python)}, {"cpp", json_of(cpp)}};
    }
    if (json.is_object()) json["reproducers"] = std::move(runs);
  }
  if (json.is_object() && (redaction || reproducers_)) {
    json_text = json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  if (auto ok = staged->write("finding.md", report); !ok) return std::unexpected(ok.error());
  if (auto ok = staged->write("finding.json", json_text); !ok) return std::unexpected(ok.error());
  Result<std::string> folder = staged->publish();
  if (!folder) return folder;
  if (const auto classes = write_class_reports(store_); !classes) return std::unexpected(classes.error());
  return folder;
}

// One candidate for each new bug met on the way is enough.
Result<void> Examiner::keep_slip(const Candidate& parent, const Signature& signature, const Case& found) {
  if (!trials_.is_finding(found, signature.verdict) || store_.has_finding(signature)) return {};
  const auto waiting = store_.candidates();
  if (std::ranges::any_of(waiting, [&](const Candidate& c) { return c.signature == signature; })) return {};
  const auto added = store_.add_candidate({.kind = Candidate::Kind::slip,
                                           .signature = signature,
                                           .the_case = found,
                                           .outcome = {.device = device_.settings().device.text()},
                                           .engine = parent.engine,
                                           .sequence = parent.sequence});
  if (!added) return std::unexpected(added.error());
  return {};
}

}  // namespace dsafuzz
