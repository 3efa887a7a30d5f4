#include "fuzz/expectation.h"

#include <algorithm>
#include <filesystem>

#include "fuzz/stored_finding.h"
#include "repro/case_text.h"
#include "repro/fill.h"
#include "repro/read_file.h"

namespace dsafuzz {
namespace {

struct Found {
  std::string folder, verdict, signature;
  Case minimal;
};

// The findings on disk whose case belongs to the scenario, sorted by folder.
std::vector<Found> findings_of(const std::string& scenario, const std::string& out) {
  std::vector<Found> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(out + "/findings", ignored)) {
    const std::string folder = entry.path().string();
    auto minimal = load_case(folder + "/case.yaml");
    const auto stored = read_stored_finding(folder);
    if (!minimal || !stored || minimal->scenario != scenario) continue;
    found.push_back({folder, std::string(to_text(stored->signature.verdict)), stored->signature.text(), std::move(*minimal)});
  }
  std::ranges::sort(found, {}, &Found::folder);
  return found;
}

}  // namespace

std::optional<std::string> minimal_unmet(const Expectation& expect, const Case& minimal) {
  for (const auto& [name, wanted] : expect.minimal_shapes) {
    // A variable that is gone was not needed: nothing is smaller.
    const auto value = minimal.shapes.find(name);
    if (value != minimal.shapes.end() && value->second != wanted) {
      return "the minimal case has " + name + " " + std::to_string(value->second) + ", expected " +
             std::to_string(wanted);
    }
  }
  for (const auto& [name, wanted] : expect.minimal_values) {
    const TensorSpec* tensor = minimal.find_tensor(name);
    if (!tensor) return "the minimal case has no tensor '" + name + "'";
    const auto values = contents(minimal, *tensor);
    const auto equal = [](const Number& a, const Number& b) { return as_double(a) == as_double(b); };
    if (!std::ranges::equal(values, wanted, equal)) {
      std::string text;
      for (std::size_t i = 0; i < values.size() && i < 8; ++i) text += (i ? ", " : "") + to_text(values[i]);
      return "the minimal case has " + name + " [" + text + (values.size() > 8 ? ", ..." : "") + "]";
    }
  }
  return std::nullopt;
}

std::optional<std::string> expectation_unmet(const Scenario& scenario, const std::string& out) {
  const auto found = findings_of(scenario.name, out);
  const std::string verdict(to_text(scenario.expect.verdict));
  if (scenario.expect.verdict == Verdict::ok) {
    if (found.empty()) return std::nullopt;
    return "expected nothing, found " + found[0].verdict + " " + found[0].signature + " in " + found[0].folder;
  }
  std::string nearest = "expected " + verdict + " " + scenario.expect.signature + ", not found";
  for (const Found& f : found) {
    if (f.verdict != verdict) continue;
    if (!scenario.expect.signature.empty() && f.signature != scenario.expect.signature) continue;
    const auto unmet = minimal_unmet(scenario.expect, f.minimal);
    if (!unmet) return std::nullopt;
    nearest = *unmet + " in " + f.folder;
  }
  return nearest;
}

}  // namespace dsafuzz
