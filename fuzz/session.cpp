#include "fuzz/session.h"

#include <algorithm>

#include "fuzz/mutate.h"
#include "fuzz/mutate_program.h"
#include "repro/diagnose.h"

namespace dsafuzz {
namespace {

// More distinct signatures than this from one session are noise, not bugs; the disk is not filled with them.
constexpr std::uint64_t kMostCandidates = 500;

std::string first_user_of(const Case& c, const std::string& tensor) {
  for (const Step& step : c.steps) {
    for (const Argument& argument : step.arguments) {
      const auto* name = std::get_if<Name>(&argument.value.v);
      if (name && name->text == tensor) return step.op;
    }
  }
  return c.steps.front().op;
}

// An attribute such as ignore_index can make a value legal after all; such cases are asked about separately.
bool attributes_differ(const Scenario& scenario, const Case& c) {
  return std::ranges::any_of(scenario.vary.attributes, [&](const auto& attribute) {
    const Value* value = find_attribute(c, attribute.first, attribute.second);
    const Value* usual = find_attribute(scenario.base, attribute.first, attribute.second);
    return value && usual && !(*value == *usual);
  });
}

bool ends_worker(Outcome::End end) {
  switch (end) {
    case Outcome::End::exited:
    case Outcome::End::signalled:
    case Outcome::End::timed_out: return true;
    case Outcome::End::returned:
    case Outcome::End::threw:
    case Outcome::End::not_run: return false;
  }
  return false;
}

}  // namespace

Session::Session(const Scenario& scenario, Executor& executor, Store& store, EngineName engine, WriteAhead running,
                 std::uint64_t known_every)
    : scenario_(scenario),
      executor_(executor),
      store_(store),
      engine_(std::move(engine)),
      running_(std::move(running)),
      filter_(known_every != 0 ? known_every : usual_known_every(executor.settings().device.kind)),
      known_(store.findings()) {
  known_.merge(store.answered());
}

Result<Session::Use> Session::run(const Case& c, std::span<const std::uint8_t> bytes,
                                  std::span<std::uint8_t> features) {
  std::ranges::fill(features, std::uint8_t{0});
  if (bytes.size() > kCaseBytesLimit || !belongs(scenario_, c)) return Use::drop;
  const std::vector<IllegalValue> illegal = illegal_values(scenario_, c);
  if (filter_.leaves_out(c, illegal)) {
    ++status_.left_out;
    return Use::drop;
  }
  running_.begin(bytes, status_.executions);
  const Result<Outcome> outcome = executor_.run(c, features);
  if (!outcome) {
    running_.end();
    return std::unexpected(outcome.error());
  }
  const Diagnosis diagnosis = diagnose(c, *outcome);
  const Verdict verdict = diagnosis.signature.verdict;
  Result<void> booked;
  status_.met_expectation = status_.met_expectation || scenario_.expect.is_met_by(diagnosis.signature);
  if (scenario_.is_finding(verdict)) {
    std::ranges::fill(features, std::uint8_t{0});
    filter_.learn(c, illegal);
    booked = book({.kind = Candidate::Kind::failed,
                   .signature = diagnosis.signature,
                   .the_case = c,
                   .outcome = *outcome,
                   .engine = engine_.index,
                   .sequence = status_.executions});
  } else if (outcome->end == Outcome::End::returned && !illegal.empty()) {
    booked = suspect(c, *outcome, illegal);
  }
  // The mark stays until the candidate is on disk.
  running_.end();
  if (!booked) return std::unexpected(booked.error());
  if (verdict == Verdict::setup_failed && !ran_once_) {
    return environment_problem(executor_.settings().device.text() + " cannot run this scenario: " +
                                   (outcome->error.empty() ? outcome->log : outcome->error),
                               scenario_.file, "`--device vcuda` runs everywhere");
  }
  ++status_.executions;
  const SpareUse spares = executor_.spares();
  status_.spares_taken = spares.taken;
  status_.spares_ready = spares.ready;
  if (ends_worker(outcome->end)) ++status_.restarts;
  if (verdict == Verdict::setup_failed) return Use::drop;
  ran_once_ = true;
  if (status_.versions.empty()) status_.versions = outcome->versions;
  if (scenario_.is_finding(verdict)) return Use::drop;
  count_features(features);
  return Use::keep;
}

Result<void> Session::book(const Candidate& candidate) {
  if (status_.candidates >= kMostCandidates || !known_.insert(candidate.signature.folder_name()).second) return {};
  const Result<bool> added = store_.add_candidate(candidate);
  if (!added) return std::unexpected(added.error());
  ++status_.candidates;
  return {};
}

Result<void> Session::suspect(const Case& c, const Outcome& outcome, std::span<const IllegalValue> values) {
  for (const IllegalValue& value : values) {
    std::string condition = "suspect: " + value.tensor + " " + std::string(to_text(value.value_class));
    if (attributes_differ(scenario_, c)) condition += ", attributes changed";
    const auto booked = book({.kind = Candidate::Kind::suspect,
                              .signature = {.verdict = Verdict::silent,
                                            .op = first_user_of(c, value.tensor),
                                            .file = {},
                                            .kernel = {},
                                            .condition = std::move(condition)},
                              .the_case = c,
                              .outcome = outcome,
                              .engine = engine_.index,
                              .sequence = status_.executions});
    if (!booked) return booked;
  }
  return {};
}

void Session::count_features(std::span<const std::uint8_t> features) {
  if (seen_.add(features) > 0) ++status_.corpus;
  status_.features = seen_.size();
}

}  // namespace dsafuzz
