// The catalogue of device asserts as a table: a header, a line a row, tabs between the columns, no quoting.
// corpus/README.md explains the columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "repro/result.h"

namespace dsafuzz {

// One line of corpus/catalogue/device_asserts.tsv.
struct CatalogueRow {
  std::string id;         // "U13"
  std::string source;     // "aten/src/ATen/native/cuda/Loss.cu:250"; empty for silent and host_reject rows
  std::string function;   // as the device prints it
  std::string condition;  // as the device prints it
  std::string operators;  // free text: the operators that get there
  std::string trigger;    // free text: which input does it
  std::string expected;   // device_assert, silent, host_reject; anything else has no case
  std::string exception;  // why the virtual device cannot give that answer; empty: it must

  std::string_view file() const;  // source without its line
  std::string_view line() const;  // empty if unknown
};

// `path` is the table, for problems. Problem: a line has another number of columns than the header, or one of the
// columns that every row needs is empty or missing.
Result<std::vector<CatalogueRow>> parse_catalogue(std::string_view text, const std::string& path);

// The text of corpus/catalogue/device_asserts.tsv as it was when dsafuzz was built.
extern const std::string_view kAssertCatalogue;

}  // namespace dsafuzz
