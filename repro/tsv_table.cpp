#include "repro/tsv_table.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace dsafuzz {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (const auto part : text | std::views::split(separator)) parts.emplace_back(std::string_view(part));
  if (parts.empty()) parts.emplace_back();
  return parts;
}

Result<TsvTable> TsvTable::parse(std::string_view text, std::string path) {
  TsvTable table;
  table.path_ = std::move(path);
  int number = 0;
  for (const auto range : text | std::views::split('\n')) {
    const std::string_view line(range);
    ++number;
    if (line.empty() || line.front() == '#') continue;
    auto cells = split(line, '\t');
    if (table.header_.empty()) {
      table.header_ = std::move(cells);
      continue;
    }
    if (cells.size() != table.header_.size()) {
      return input_problem("has " + std::to_string(cells.size()) + " columns, the first line has " +
                               std::to_string(table.header_.size()),
                           table.path_ + ":" + std::to_string(number));
    }
    table.rows_.push_back(std::move(cells));
    table.lines_.push_back(number);
  }
  if (table.header_.empty()) return input_problem("has no line that names its columns", table.path_);
  return table;
}

std::string_view TsvTable::cell(std::size_t row, std::string_view column) const {
  const auto at = std::ranges::find(header_, column);
  if (at == header_.end()) return {};
  return rows_[row][static_cast<std::size_t>(at - header_.begin())];
}

std::string TsvTable::where(std::size_t row) const { return path_ + ":" + std::to_string(lines_[row]); }

}  // namespace dsafuzz
