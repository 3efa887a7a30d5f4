// The rows of the error-parity matrix: what the catalogue of device asserts says of one input, and the variants of that
// input whose answers are worth comparing. Reading only; nothing runs here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repro/case.h"
#include "repro/finding.h"

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

// `folder` is corpus/catalogue. Problem: the file is missing, or a line of it has another number of columns.
Result<std::vector<CatalogueRow>> load_catalogue(const std::string& folder);

// How a row's case differs from the one in the catalogue; "" where it does not.
struct Variant {
  std::string dtype, reduction, precision, layout;
  bool is_base() const { return dtype.empty() && reduction.empty() && precision.empty() && layout.empty(); }
  // "float16", "sum", ...: the part of the row's id after the slash.
  std::string text() const;
  friend bool operator==(const Variant&, const Variant&) = default;
};

struct VariantCase {
  Variant variant;
  Case the_case;
};

// The case itself, then one case for each other floating dtype, reduction, precision mode and layout, one change at a
// time. Only what the case has is varied: without a floating tensor there is no dtype. All are valid.
std::vector<VariantCase> variants_of(const Case& base);

}  // namespace dsafuzz
