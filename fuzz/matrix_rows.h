// The rows of the error-parity matrix: the catalogue of device asserts as a folder, and the variants of an input whose
// answers are worth comparing. Reading only; nothing runs here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repro/assert_catalogue.h"
#include "repro/case.h"

namespace dsafuzz {

// `folder` is corpus/catalogue. Problem: the file is missing, or parse_catalogue() refuses it.
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
