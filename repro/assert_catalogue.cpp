#include "repro/assert_catalogue.h"

#include "repro/tsv_table.h"

namespace dsafuzz {

std::string_view CatalogueRow::file() const {
  const std::size_t colon = source.rfind(':');
  return std::string_view(source).substr(0, colon);
}

std::string_view CatalogueRow::line() const {
  const std::size_t colon = source.rfind(':');
  return colon == std::string::npos ? std::string_view() : std::string_view(source).substr(colon + 1);
}

Result<std::vector<CatalogueRow>> parse_catalogue(std::string_view text, const std::string& path) {
  const TsvTable table = DSAFUZZ_TRY(TsvTable::parse(text, path));
  std::vector<CatalogueRow> rows;
  for (std::size_t row = 0; row < table.size(); ++row) {
    const auto cell = [&](std::string_view column) { return std::string(table.cell(row, column)); };
    rows.push_back({.id = cell("id"),
                    .source = cell("source"),
                    .function = cell("function"),
                    .condition = cell("condition"),
                    .operators = cell("operators"),
                    .trigger = cell("trigger"),
                    .expected = cell("expected"),
                    .exception = cell("exception")});
    if (rows.back().id.empty() || rows.back().expected.empty())
      return input_problem("needs the columns id and expected", table.where(row));
  }
  return rows;
}

}  // namespace dsafuzz
