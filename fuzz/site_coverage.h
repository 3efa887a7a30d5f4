// Which device asserts a set of cases came past, and which of them failed, against the catalogue's list of those that
// an input can make fail. Pure: outcomes come in, counts come out.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fuzz/matrix_rows.h"
#include "repro/outcome.h"

namespace dsafuzz {

class SiteCoverage {
 public:
  // Sites are the catalogue's device_assert rows; rows with the same source, function and condition are one site.
  explicit SiteCoverage(const std::vector<CatalogueRow>& catalogue);

  // What one run of a case of this scenario reached and triggered. A failed assert counts as reached, so this works for
  // devices too that report no more than the assert line.
  void add(const std::string& scenario, const Outcome& outcome);

  struct Site {
    std::string source, function, condition;
    std::vector<std::string> rows;  // of the catalogue: "U01", "U02"; empty: not among those an input can make fail
    std::set<std::string> reached_by, triggered_by;  // scenarios
  };
  struct Scenario {
    std::size_t cases = 0;
    std::set<std::size_t> reached, triggered;  // positions in sites()
  };
  const std::vector<Site>& sites() const { return sites_; }  // the catalogue's first, in its order
  const std::map<std::string, Scenario>& scenarios() const { return scenarios_; }
  std::size_t catalogue_size() const { return catalogue_size_; }
  std::size_t reached() const;    // of the catalogue's
  std::size_t triggered() const;  // of the catalogue's

 private:
  std::size_t find_or_add(const ReachedSite& site);

  std::vector<Site> sites_;
  std::map<std::string, Scenario> scenarios_;
  std::size_t catalogue_size_ = 0;
};

std::string coverage_text(const SiteCoverage& coverage);
std::string coverage_json(const SiteCoverage& coverage);

}  // namespace dsafuzz
