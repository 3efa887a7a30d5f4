#include "fuzz/site_coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace dsafuzz {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CatalogueRow row(std::string id, std::string source, std::string function, std::string condition) {
  CatalogueRow out;
  out.id = std::move(id);
  out.source = std::move(source);
  out.function = std::move(function);
  out.condition = std::move(condition);
  out.expected = "device_assert";
  return out;
}

// Two operators share one line of code; another kernel has the same text; a check that takes its message from the
// caller has no text of its own.
std::vector<CatalogueRow> catalogue() {
  auto silent = row("S1", "", "", "");
  silent.expected = "silent";
  return {row("U1", "aten/src/A.cu:7", "operator()", "i < n"), row("U2", "aten/src/A.cu:7", "operator()", "i < n"),
          row("U3", "aten/src/B.cu:7", "operator()", "i < n"), row("U4", "aten/src/C.cu:1", "check", "my message"),
          silent};
}

TEST(SiteCoverage, RowsOfOneSiteCountOnceAndTheSameTextElsewhereIsAnotherSite) {
  const SiteCoverage coverage(catalogue());
  ASSERT_EQ(coverage.catalogue_size(), 3u);
  EXPECT_THAT(coverage.sites()[0].rows, ElementsAre("U1", "U2"));
  EXPECT_THAT(coverage.sites()[1].rows, ElementsAre("U3"));
  EXPECT_EQ(coverage.reached(), 0u);
}

TEST(SiteCoverage, ReachedTriggeredAndNeither) {
  SiteCoverage coverage(catalogue());
  Outcome held;
  held.sites = {{"/pytorch/aten/src/A.cu", 7, "operator()", "i < n"}, {"/pytorch/aten/src/C.cu", 1, "check", ""}};
  coverage.add("first", held);
  EXPECT_EQ(coverage.reached(), 2u);
  EXPECT_EQ(coverage.triggered(), 0u);

  // A GPU says no more than the assert's line.
  Outcome failed;
  failed.log = "/pytorch/aten/src/C.cu:1: check: block: [0,0,0], thread: [0,0,0] Assertion `my message` failed.\n";
  coverage.add("second", failed);
  EXPECT_EQ(coverage.reached(), 2u);
  EXPECT_EQ(coverage.triggered(), 1u);
  EXPECT_EQ(coverage.scenarios().at("first").reached.size(), 2u);
  EXPECT_EQ(coverage.scenarios().at("second").triggered.size(), 1u);

  const std::string text = coverage_text(coverage);
  EXPECT_THAT(text, HasSubstr("2 of 3 assert sites reached, 1 of 3 triggered"));
  EXPECT_THAT(text, HasSubstr("Never reached:\n  U3  B.cu:7"));
  EXPECT_THAT(text, HasSubstr("Reached, never triggered:\n  U1, U2  A.cu:7"));
  const auto json = nlohmann::json::parse(coverage_json(coverage));
  EXPECT_EQ(json.at("sites"), 3);
  EXPECT_EQ(json.at("list").at(2).at("triggered_by"), std::vector<std::string>{"second"});
}

TEST(SiteCoverage, ASiteThatTheCatalogueLacksIsListedAndNotCounted) {
  SiteCoverage coverage(catalogue());
  Outcome outcome;
  outcome.sites = {{"/pytorch/aten/src/A.cu", 8, "operator()", "i < n"}};
  coverage.add("first", outcome);
  EXPECT_EQ(coverage.reached(), 0u);
  EXPECT_THAT(coverage_text(coverage), HasSubstr("Met, but not among those"));
}

}  // namespace
}  // namespace dsafuzz
