// `explain`: a pasted log, read and answered.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "fuzz/commands.h"
#include "repro/escape.h"
#include "repro/explain.h"
#include "repro/reading_json.h"
#include "repro/scenario.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

// Read piece by piece, so that a log of any length takes bounded memory.
Result<LogText> read_log(const std::string& path) {
  const bool standard = path == "-";
  std::error_code ignored;
  if (!standard && fs::is_directory(path, ignored)) {
    return input_problem("is a folder, not a log", path, "give the file, or - for standard input");
  }
  std::FILE* file = standard ? stdin : std::fopen(path.c_str(), "rb");
  if (!file) return input_problem("cannot be read", path, "give a log, or - for standard input");
  LogReader reader;
  std::string piece(std::size_t{1} << 20, '\0');
  while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), file)) {
    reader.add(std::string_view(piece).substr(0, size));
  }
  const bool failed = std::ferror(file) != 0;
  if (!standard) std::fclose(file);
  if (failed) return input_problem("cannot be read to its end", path);
  return reader.finish();
}

// Those shipped; none where dsafuzz runs without its folders.
std::vector<KnownScenario> known_scenarios() {
  std::vector<KnownScenario> known;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(shipped_folder("scenarios"), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".yaml") || name.ends_with("_healthy.yaml")) continue;
    const auto scenario = load_scenario(entry.path().string());
    if (!scenario || scenario->only_legal) continue;
    KnownScenario each{"scenarios/" + name, scenario->expect.signature, {}};
    for (const Step& step : scenario->base.steps) each.ops.push_back(step.op);
    known.push_back(std::move(each));
  }
  std::ranges::sort(known, {}, &KnownScenario::path);
  return known;
}

}  // namespace

int explain_command(const std::string& path, bool json) {
  const auto log = read_log(path);
  if (!log) return fail(log.error());
  const LogReading reading = parse_log(*log);
  const bool quiet = reading.kind == LogKind::none || reading.kind == LogKind::environment;
  const Explanation explanation = explain(reading, quiet ? std::vector<KnownScenario>() : known_scenarios());
  const std::string text = json ? reading_json(reading, explanation) + "\n" : explanation_text(explanation);
  std::fputs(text.c_str(), stdout);
  return explanation.fault ? 1 : 0;
}

}  // namespace dsafuzz
