#include "fuzz/site_coverage.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "repro/escape.h"
#include "repro/normalise.h"
#include "repro/parse_log.h"

namespace dsafuzz {
namespace {

std::string site_text(const SiteCoverage::Site& site) {
  const std::string rows = site.rows.empty() ? "" : joined(site.rows) + "  ";
  return rows + site.source.substr(site.source.rfind('/') + 1) + " " + site.function + " `" + site.condition + "`";
}

std::string row_text(std::size_t width, const std::string& name, const std::string& cases, const std::string& reached,
                     const std::string& triggered) {
  std::array<char, 256> line;
  std::snprintf(line.data(), line.size(), "%-*s  %6s  %7s  %9s\n", static_cast<int>(width), name.c_str(), cases.c_str(),
                reached.c_str(), triggered.c_str());
  return line.data();
}

std::string list_of(const SiteCoverage& coverage, const std::string& title, bool (*wanted)(const SiteCoverage::Site&)) {
  std::string text;
  for (const SiteCoverage::Site& site : coverage.sites()) {
    if (wanted(site)) text += "  " + site_text(site) + "\n";
  }
  return text.empty() ? "" : "\n" + title + "\n" + text;
}

}  // namespace

SiteCoverage::SiteCoverage(const std::vector<CatalogueRow>& catalogue) {
  for (const CatalogueRow& row : catalogue) {
    if (row.expected != "device_assert") continue;
    const auto same = std::ranges::find_if(sites_, [&](const Site& site) {
      return site.source == row.source && site.function == row.function && site.condition == row.condition;
    });
    if (same == sites_.end()) {
      sites_.push_back({row.source, row.function, row.condition, {row.id}, {}, {}});
    } else {
      same->rows.push_back(row.id);
    }
  }
  catalogue_size_ = sites_.size();
}

// A message made at run time has no text of its own before it fails: such a site is known by its place.
std::size_t SiteCoverage::find_or_add(const ReachedSite& reached) {
  const std::string source = signature_file(reached.file) + ":" + std::to_string(reached.line);
  const auto here = [&](const Site& site) { return site.source == source && site.function == reached.function; };
  auto found =
      std::ranges::find_if(sites_, [&](const Site& site) { return here(site) && site.condition == reached.condition; });
  if (found == sites_.end() && reached.condition.empty()) found = std::ranges::find_if(sites_, here);
  const auto at = static_cast<std::size_t>(found - sites_.begin());
  if (found == sites_.end()) sites_.push_back({source, reached.function, reached.condition, {}, {}, {}});
  return at;
}

void SiteCoverage::add(const std::string& name, const Outcome& outcome) {
  Scenario& scenario = scenarios_[name];
  ++scenario.cases;
  const auto reach = [&](const ReachedSite& site) {
    const std::size_t at = find_or_add(site);
    sites_[at].reached_by.insert(name);
    scenario.reached.insert(at);
    return at;
  };
  for (const ReachedSite& site : outcome.sites) reach(site);
  for (const AssertRecord& record : parse_log(outcome.log).asserts.records) {
    const std::size_t at = reach({record.file, record.line, record.function.value_or(""), record.condition});
    sites_[at].triggered_by.insert(name);
    scenario.triggered.insert(at);
  }
}

std::size_t SiteCoverage::reached() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(sites_, [](const Site& s) { return !s.rows.empty() && !s.reached_by.empty(); }));
}

std::size_t SiteCoverage::triggered() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(sites_, [](const Site& s) { return !s.rows.empty() && !s.triggered_by.empty(); }));
}

std::string coverage_text(const SiteCoverage& coverage) {
  std::size_t width = 8;
  for (const auto& [name, scenario] : coverage.scenarios()) width = std::max(width, name.size());
  std::string text = row_text(width, "scenario", "cases", "reached", "triggered");
  for (const auto& [name, scenario] : coverage.scenarios()) {
    const std::string reached = std::to_string(scenario.reached.size());
    text += row_text(width, name, std::to_string(scenario.cases), reached,
                     std::to_string(scenario.triggered.size()) + " of " + reached);
  }
  text += list_of(coverage, "Never reached:", [](const SiteCoverage::Site& s) { return s.reached_by.empty(); });
  text += list_of(coverage, "Reached, never triggered:", [](const SiteCoverage::Site& s) {
    return !s.rows.empty() && !s.reached_by.empty() && s.triggered_by.empty();
  });
  text += list_of(coverage, "Met, but not among those that an input is known to trigger:",
                  [](const SiteCoverage::Site& s) { return s.rows.empty(); });
  const std::string all = std::to_string(coverage.catalogue_size());
  return text + "\n" + std::to_string(coverage.reached()) + " of " + all + " assert sites reached, " +
         std::to_string(coverage.triggered()) + " of " + all + " triggered\n";
}

std::string coverage_json(const SiteCoverage& coverage) {
  nlohmann::ordered_json out{
      {"sites", coverage.catalogue_size()}, {"reached", coverage.reached()}, {"triggered", coverage.triggered()}};
  out["scenarios"] = nlohmann::ordered_json::array();
  for (const auto& [name, scenario] : coverage.scenarios()) {
    out["scenarios"].push_back({{"scenario", name},
                                {"cases", scenario.cases},
                                {"reached", scenario.reached.size()},
                                {"triggered", scenario.triggered.size()}});
  }
  out["list"] = nlohmann::ordered_json::array();
  for (const SiteCoverage::Site& site : coverage.sites()) {
    out["list"].push_back({{"source", site.source},
                           {"function", site.function},
                           {"condition", site.condition},
                           {"rows", site.rows},
                           {"reached_by", site.reached_by},
                           {"triggered_by", site.triggered_by}});
  }
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace dsafuzz
