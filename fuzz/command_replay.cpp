#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "fuzz/commands.h"
#include "fuzz/stored_finding.h"
#include "fuzz/worker_pool.h"
#include "repro/case_text.h"
#include "repro/diagnose.h"
#include "repro/expected.h"
#include "repro/judge.h"

namespace dsafuzz {
namespace {

void print_text(const std::string& path, const Case& c, const Diagnosis& d, const Outcome& o, const std::string& judged,
                bool log) {
  const Signature& s = d.signature;
  std::printf("%s: %s on %s", path.c_str(), std::string(to_text(s.verdict)).c_str(), o.device.c_str());
  if (s.verdict != Verdict::ok) std::printf(" at %s: %s", s.op.c_str(), s.text().c_str());
  std::printf("%s\n", judged.c_str());
  for (std::size_t i = 0; i < d.evidence.size() && i < 5; ++i) std::printf("    %s\n", d.evidence[i].c_str());
  if (is_bug(s.verdict)) {
    const Advice advice = advise(c, d);
    std::printf("  cause: %s\n  remedy: %s\n", advice.cause.c_str(), advice.remedy.c_str());
  }
  if (log) std::fwrite(o.log.data(), 1, o.log.size(), stdout);
}

void print_json(const std::string& path, const Case& c, const Diagnosis& d, const Outcome& o, bool as_expected) {
  const nlohmann::ordered_json line{{"file", path},
                                    {"case_id", case_id(c)},
                                    {"device", o.device},
                                    {"verdict", to_text(d.signature.verdict)},
                                    {"signature", d.signature.text()},
                                    {"operator", d.signature.op},
                                    {"as_expected", as_expected},
                                    {"error_type", o.error_type},
                                    {"error", o.error},
                                    {"evidence", d.evidence},
                                    {"seconds", o.seconds}};
  std::printf("%s\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

// The CPU, started when it is first asked: most failing cases need no second opinion.
class SecondOpinion {
 public:
  Result<Outcome> ask(const Case& c, RunSettings settings) {
    settings.device = {.kind = Device::Kind::cpu};
    if (!executor_ || executor_->settings() != settings) {
      executor_.reset();
      executor_ = DSAFUZZ_TRY(start_workers(settings));
    }
    return executor_->run(c);
  }

 private:
  std::unique_ptr<Executor> executor_;
};

}  // namespace

int replay_command(const ReplayFlags& flags) {
  const auto settings = settings_of(flags.run, true);
  if (!settings) return fail(settings.error());
  std::unique_ptr<Executor> workers;
  SecondOpinion cpu;
  int exit_code = 0;
  for (const std::string& path : flags.cases) {
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(path, ignored);
    const std::string file = folder ? path + "/case.yaml" : path;
    const auto c = load_case(file);
    if (!c) return fail(c.error());
    std::optional<Expected> expected;
    if (folder && std::filesystem::exists(path + "/expect.yaml", ignored)) {
      auto loaded = load_expected(path + "/expect.yaml");
      if (!loaded) return fail(loaded.error());
      expected = std::move(*loaded);
    }
    RunSettings wanted = *settings;
    if (!wanted.tool && expected) wanted.tool = expected->tool;
    if (const auto stored = folder ? read_stored_finding(path) : std::nullopt; !wanted.tool && stored) {
      wanted.tool = stored->tool;
    }
    if (wanted.modules.empty()) wanted.modules = folder_of(file);
    // Workers know one folder of modules: cases without a module step share theirs.
    const bool has_module = std::ranges::any_of(c->steps, [](const Step& s) { return s.op.starts_with("module:"); });
    const auto suits = [&](const RunSettings& s) { return has_module ? s == wanted : s.tool == wanted.tool; };
    if (!workers || !suits(workers->settings())) {
      workers.reset();
      auto started = start_workers(wanted);
      if (!started) return fail(started.error());
      workers = std::move(*started);
    }
    for (int i = 0; i < flags.repeat; ++i) {
      const auto outcome = workers->run_fresh(*c);
      if (!outcome) return fail(outcome.error());
      std::optional<Outcome> on_cpu;
      if (outcome->end == Outcome::End::returned && wanted.device.kind != Device::Kind::cpu) {
        auto second = cpu.ask(*c, workers->settings());
        if (!second) return fail(second.error());
        on_cpu = std::move(*second);
      }
      const Diagnosis diagnosis = judge(*c, *outcome, on_cpu ? &*on_cpu : nullptr);
      const auto unmet = expected ? expected->unmet(diagnosis.signature) : std::nullopt;
      if (flags.run.json) {
        print_json(path, *c, diagnosis, *outcome, !unmet);
      } else {
        print_text(path, *c, diagnosis, *outcome,
                   unmet      ? " (expected " + *unmet + ")"
                   : expected ? " (as expected)"
                              : "",
                   flags.log);
      }
      if (expected ? unmet.has_value() : is_bug(diagnosis.signature.verdict)) exit_code = 1;
      // A file that cannot run says nothing about the bug: a script must not take that for "fixed".
      if (!expected && diagnosis.signature.verdict == Verdict::setup_failed) return 3;
    }
  }
  return exit_code;
}

}  // namespace dsafuzz
