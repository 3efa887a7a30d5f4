// A table as text: the first line names the columns, each further line is a row, tabs stand between the cells, and
// nothing is quoted. Empty lines and lines that begin with # count for nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "repro/result.h"

namespace dsafuzz {

class TsvTable {
 public:
  // `path` is for problems. Problem (input): no header, or a row with another number of cells than the header.
  static Result<TsvTable> parse(std::string_view text, std::string path);

  std::size_t size() const { return rows_.size(); }
  // Requires: row < size(). Empty if there is no such column.
  std::string_view cell(std::size_t row, std::string_view column) const;
  // "path:12", for problems about a row.
  std::string where(std::size_t row) const;

 private:
  std::string path_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<int> lines_;
};

// The parts between the separators; one part if there is none.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace dsafuzz
