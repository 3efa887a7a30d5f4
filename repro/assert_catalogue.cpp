#include "repro/assert_catalogue.h"

#include <algorithm>
#include <ranges>

namespace dsafuzz {
namespace {

std::vector<std::string> split(std::string_view line, char at) {
  std::vector<std::string> parts;
  for (const auto part : line | std::views::split(at)) parts.emplace_back(std::string_view(part));
  return parts;
}

}  // namespace

std::string_view CatalogueRow::file() const {
  const std::size_t colon = source.rfind(':');
  return std::string_view(source).substr(0, colon);
}

std::string_view CatalogueRow::line() const {
  const std::size_t colon = source.rfind(':');
  return colon == std::string::npos ? std::string_view() : std::string_view(source).substr(colon + 1);
}

Result<std::vector<CatalogueRow>> parse_catalogue(std::string_view text, const std::string& path) {
  std::vector<CatalogueRow> rows;
  std::vector<std::string> header;
  int line_number = 0;
  for (const auto range : text | std::views::split('\n')) {
    const std::string_view line(range);
    ++line_number;
    if (line.empty()) continue;
    const std::vector<std::string> cells = split(line, '\t');
    const std::string where = path + ":" + std::to_string(line_number);
    if (header.empty()) {
      header = cells;
      continue;
    }
    if (cells.size() != header.size()) {
      return input_problem(
          "has " + std::to_string(cells.size()) + " columns, the first line has " + std::to_string(header.size()),
          where);
    }
    const auto cell = [&](std::string_view name) {
      const auto at = std::ranges::find(header, name);
      return at == header.end() ? std::string() : cells[static_cast<std::size_t>(at - header.begin())];
    };
    rows.push_back({.id = cell("id"),
                    .source = cell("source"),
                    .function = cell("function"),
                    .condition = cell("condition"),
                    .operators = cell("operators"),
                    .trigger = cell("trigger"),
                    .expected = cell("expected"),
                    .exception = cell("exception")});
    if (rows.back().id.empty() || rows.back().expected.empty()) {
      return input_problem("needs the columns id and expected", where);
    }
  }
  return rows;
}

}  // namespace dsafuzz
