// `check`, `list` and `show`: reading without running.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "fuzz/commands.h"
#include "fuzz/scenario_or_case.h"
#include "fuzz/stored_finding.h"
#include "repro/case_text.h"
#include "repro/fill.h"
#include "repro/scenario.h"

namespace dsafuzz {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> sorted_paths(const std::string& folder, bool (*wanted)(const fs::directory_entry&)) {
  std::vector<std::string> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (wanted(entry)) out.push_back(entry.path().string());
  }
  std::ranges::sort(out);
  return out;
}

std::string values_text(const Case& c, const TensorSpec& t) {
  static constexpr std::size_t kShown = 64;
  const auto values = contents(c, t);
  std::string out;
  for (std::size_t i = 0; i < std::min(values.size(), kShown); ++i) out += (i ? ", " : "") + to_text(values[i]);
  if (values.size() > kShown) out += ", ... " + std::to_string(values.size() - kShown) + " more";
  return out;
}

}  // namespace

int check_command(const std::vector<std::string>& files) {
  int exit_code = 0;
  for (const std::string& file : files) {
    const auto loaded = load_scenario_or_case(file);
    if (!loaded) {
      exit_code = fail(loaded.error());
      continue;
    }
    std::printf("%s: ok, %s %s: %zu tensors, %zu steps\n", file.c_str(), loaded->scenario ? "scenario" : "case",
                loaded->the_case.scenario.c_str(), loaded->the_case.tensors.size(), loaded->the_case.steps.size());
  }
  return exit_code;
}

int list_command(const std::string& wanted, bool json) {
  const std::string folder = wanted.empty() ? shipped_folder("scenarios") : wanted;
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return fail(input_problem("is not a folder", folder).error());
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::string& path : sorted_paths(folder, [](const auto& e) { return e.path().extension() == ".yaml"; })) {
    const auto scenario = load_scenario(path);
    if (!scenario) return fail(scenario.error());
    rows.push_back({{"scenario", scenario->name},
                    {"expect", to_text(scenario->expect.verdict)},
                    {"claim", scenario->claim},
                    {"file", path}});
  }
  for (const std::string& path : sorted_paths(folder + "/findings", [](const auto& e) { return e.is_directory(); })) {
    const auto finding = read_stored_finding(path);
    if (!finding) continue;
    rows.push_back({{"finding", finding->signature.text()},
                    {"verdict", std::string(to_text(finding->signature.verdict))},
                    {"folder", path}});
  }
  if (json) {
    std::printf("%s\n", rows.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return 0;
  }
  for (const auto& row : rows) {
    if (row.contains("scenario")) {
      std::printf("%-46s %-14s %s\n", row["scenario"].get<std::string>().c_str(),
                  row["expect"].get<std::string>().c_str(), row["claim"].get<std::string>().c_str());
    } else {
      std::printf("%-14s %s\n    %s\n", row["verdict"].get<std::string>().c_str(),
                  row["finding"].get<std::string>().c_str(), row["folder"].get<std::string>().c_str());
    }
  }
  return 0;
}

int show_command(const std::string& path, bool json) {
  const auto loaded = load_scenario_or_case(path);
  if (!loaded) return fail(loaded.error());
  const Case& c = loaded->the_case;
  if (json) {
    nlohmann::ordered_json out{{"id", case_id(c)},
                               {"scenario", c.scenario},
                               {"precision", to_text(c.precision)},
                               {"phase", to_text(c.phase)},
                               {"shapes", c.shapes}};
    for (const TensorSpec& t : c.tensors) {
      out["tensors"].push_back({{"name", t.name},
                                {"shape", concrete_shape(t, c.shapes).value_or(std::vector<std::int64_t>{})},
                                {"dtype", to_text(t.dtype)},
                                {"values", values_text(c, t)}});
    }
    for (const Step& s : c.steps) out["steps"].push_back(to_text(s));
    out["yaml"] = to_yaml(c);
    std::printf("%s\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return 0;
  }
  std::printf("%s  id %s, seed %llu, precision %s, phase %s\n", c.scenario.c_str(), case_id(c).c_str(),
              static_cast<unsigned long long>(c.seed), std::string(to_text(c.precision)).c_str(),
              std::string(to_text(c.phase)).c_str());
  for (const TensorSpec& t : c.tensors) {
    std::string shape;
    const auto sizes = concrete_shape(t, c.shapes).value_or(std::vector<std::int64_t>{});
    for (std::size_t i = 0; i < sizes.size(); ++i)
      shape += (i ? ", " : "") + t.shape[i].text + "=" + std::to_string(sizes[i]);
    std::printf("  %s: %s [%s] %s\n    %s\n", t.name.c_str(), std::string(to_text(t.dtype)).c_str(), shape.c_str(),
                std::string(to_text(t.layout)).c_str(), values_text(c, t).c_str());
  }
  for (const Step& s : c.steps) std::printf("  %s\n", to_text(s).c_str());
  return 0;
}

}  // namespace dsafuzz
