#include "fuzz/engine_status.h"

#include <nlohmann/json.hpp>

namespace dsafuzz {
namespace {
using Json = nlohmann::ordered_json;
}

std::string to_line(const EngineStatus& s) {
  const Json json{{"executions", s.executions},
                  {"seconds", s.seconds},
                  {"features", s.features},
                  {"corpus", s.corpus},
                  {"candidates", s.candidates},
                  {"restarts", s.restarts},
                  {"spares_taken", s.spares_taken},
                  {"spares_ready", s.spares_ready},
                  {"left_out", s.left_out},
                  {"met_expectation", s.met_expectation},
                  {"versions", s.versions},
                  {"done", s.done},
                  {"problem", s.problem}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<EngineStatus> parse_status(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  const auto count = [&](const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
  };
  if (!json.is_object() || !json.contains("executions")) return environment_problem("an engine sent no status line");
  const auto is_true = [&](const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_boolean() && found->get<bool>();
  };
  const auto seconds = json.find("seconds"), problem = json.find("problem");
  std::map<std::string, std::string> versions;
  if (const auto found = json.find("versions"); found != json.end() && found->is_object()) {
    for (const auto& [name, version] : found->items()) {
      if (version.is_string()) versions.emplace(name, version.get<std::string>());
    }
  }
  return EngineStatus{.executions = count("executions"),
                      .seconds = seconds != json.end() && seconds->is_number() ? seconds->get<double>() : 0,
                      .features = count("features"),
                      .corpus = count("corpus"),
                      .candidates = count("candidates"),
                      .restarts = count("restarts"),
                      .spares_taken = count("spares_taken"),
                      .spares_ready = count("spares_ready"),
                      .left_out = count("left_out"),
                      .met_expectation = is_true("met_expectation"),
                      .versions = std::move(versions),
                      .done = is_true("done"),
                      .problem = problem != json.end() && problem->is_string() ? problem->get<std::string>() : ""};
}

}  // namespace dsafuzz
