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

std::string Variant::text() const {
  std::string text;
  for (const std::string* part : {&dtype, &reduction, &precision, &layout}) {
    if (!part->empty()) text += (text.empty() ? "" : ",") + *part;
  }
  return text;
}

Result<std::vector<CatalogueRow>> load_catalogue(const std::string& folder) {
  const std::string path = folder + "/device_asserts.tsv";
  return parse_catalogue(DSAFUZZ_TRY(read_file(path, kCatalogueBytesLimit)), path);
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
