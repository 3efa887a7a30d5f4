#include <cstdio>
#include <nlohmann/json.hpp>

#include "fuzz/case_file.h"
#include "fuzz/commands.h"
#include "fuzz/replayer.h"
#include "fuzz/worker_pool.h"
#include "repro/escape.h"

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

void print_json(const std::string& path, const Case& c, const Diagnosis& d, const Outcome& o, bool as_expected,
                bool log) {
  nlohmann::ordered_json line{{"file", path},
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
  if (log) line["log"] = o.log;
  std::printf("%s\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

}  // namespace

int replay_command(const ReplayFlags& flags) {
  const auto settings = settings_of(flags.run, true);
  if (!settings) return fail(settings.error());
  Replayer replayer(start_workers);
  int exit_code = 0;
  for (const std::string& path : flags.cases) {
    const auto file = load_case_file(path);
    if (!file) return fail(file.error());
    const std::optional<Expected>& expected = file->expected;
    if (expected && !expected->skip.empty()) {
      if (flags.run.json) {
        std::printf("%s\n", nlohmann::ordered_json{{"file", path}, {"skipped", expected->skip}}
                                .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                                .c_str());
      } else {
        std::printf("%s: skipped: %s\n", path.c_str(), comment_text(expected->skip, 500).c_str());
      }
      continue;
    }
    for (int i = 0; i < flags.repeat; ++i) {
      const auto replayed = replayer.replay(file->the_case, settings_for(*file, *settings));
      if (!replayed) return fail(replayed.error());
      const auto& [outcome, diagnosis] = *replayed;
      const auto unmet = expected ? expected->unmet(diagnosis.signature) : std::nullopt;
      if (flags.run.json) {
        print_json(path, file->the_case, diagnosis, outcome, !unmet, flags.log);
      } else {
        print_text(path, file->the_case, diagnosis, outcome,
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
