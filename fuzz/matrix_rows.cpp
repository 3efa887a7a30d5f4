#include "fuzz/matrix_rows.h"

#include <algorithm>
#include <array>
#include <functional>
#include <ranges>

#include "repro/read_file.h"

namespace dsafuzz {
namespace {

constexpr std::size_t kCatalogueBytesLimit = std::size_t{1} << 22;
constexpr std::array<std::string_view, 4> kFloating{"float32", "float64", "float16", "bfloat16"};
constexpr std::array<std::string_view, 3> kReductions{"none", "mean", "sum"};

std::vector<std::string> split(std::string_view line, char at) {
  std::vector<std::string> parts;
  for (const auto part : line | std::views::split(at)) parts.emplace_back(std::string_view(part));
  return parts;
}

// The words an operator's schema knows for a reduction, or their numbers.
std::optional<std::string_view> reduction_of(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value.v)) {
    if (*number >= 0 && *number < 3) return kReductions[static_cast<std::size_t>(*number)];
  }
  if (const auto* word = std::get_if<Name>(&value.v)) {
    const auto found = std::ranges::find(kReductions, word->text);
    if (found != kReductions.end()) return *found;
  }
  return std::nullopt;
}

class Variants {
 public:
  explicit Variants(const Case& base) : base_(base) {
    add({}, [](Case&) {});
  }

  void vary_dtype() {
    const auto floating = std::ranges::find_if(base_.tensors, [](const TensorSpec& t) { return is_floating(t.dtype); });
    if (floating == base_.tensors.end()) return;
    for (const std::string_view name : kFloating) {
      const Dtype wanted = *parse_dtype(name);
      if (wanted == floating->dtype) continue;
      add({.dtype = std::string(name)}, [&](Case& c) {
        for (TensorSpec& t : c.tensors) {
          if (t.dtype == floating->dtype) t.dtype = wanted;
        }
      });
    }
  }

  void vary_reduction() {
    for (std::size_t s = 0; s < base_.steps.size(); ++s) {
      const auto& arguments = base_.steps[s].arguments;
      const auto at = std::ranges::find(arguments, "reduction", &Argument::name);
      if (at == arguments.end()) continue;
      const auto index = static_cast<std::size_t>(at - arguments.begin());
      for (const std::string_view name : kReductions) {
        if (reduction_of(at->value) == name) continue;
        add({.reduction = std::string(name)},
            [&](Case& c) { c.steps[s].arguments[index].value = Value{Name{std::string(name)}}; });
      }
      return;
    }
  }

  void vary_precision() {
    for (const Precision precision : {Precision::autocast_float16, Precision::autocast_bfloat16}) {
      if (precision == base_.precision) continue;
      add({.precision = std::string(to_text(precision))}, [&](Case& c) { c.precision = precision; });
    }
  }

  void vary_layout() {
    for (const Layout layout : {Layout::transposed, Layout::offset}) {
      add({.layout = std::string(to_text(layout))}, [&](Case& c) {
        for (TensorSpec& t : c.tensors) {
          if (t.layout == Layout::contiguous) t.layout = layout;
        }
      });
    }
  }

  std::vector<VariantCase> take() { return std::move(out_); }

 private:
  void add(Variant variant, const std::function<void(Case&)>& change) {
    VariantCase made{std::move(variant), base_};
    change(made.the_case);
    if (validate(made.the_case)) out_.push_back(std::move(made));
  }

  const Case& base_;
  std::vector<VariantCase> out_;
};

}  // namespace

std::string_view CatalogueRow::file() const {
  const std::size_t colon = source.rfind(':');
  return std::string_view(source).substr(0, colon);
}

std::string_view CatalogueRow::line() const {
  const std::size_t colon = source.rfind(':');
  return colon == std::string::npos ? std::string_view() : std::string_view(source).substr(colon + 1);
}

std::string Variant::text() const {
  std::string text;
  for (const std::string* part : {&dtype, &reduction, &precision, &layout}) {
    if (!part->empty()) text += (text.empty() ? "" : ",") + *part;
  }
  return text;
}

Result<std::vector<CatalogueRow>> load_catalogue(const std::string& folder) {
  const std::string path = folder + "/device_asserts.tsv";
  const std::string text = DSAFUZZ_TRY(read_file(path, kCatalogueBytesLimit));
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

std::vector<VariantCase> variants_of(const Case& base) {
  Variants variants(base);
  variants.vary_dtype();
  variants.vary_reduction();
  variants.vary_precision();
  variants.vary_layout();
  return variants.take();
}

}  // namespace dsafuzz
