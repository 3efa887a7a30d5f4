// Single elements first; then the rules that look at all of them, along the last axis.
#include "repro/breach.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "repro/case_text.h"
#include "repro/fill.h"

namespace dsafuzz {
namespace {

using Found = std::optional<Breach>;

Breach breach_of(const ContractUse& use, std::string rule, std::int64_t index, const Number& element,
                 std::string value = {}) {
  if (value.empty()) value = to_text(element);
  return {.use = use, .rule = std::move(rule), .index = index, .element = element, .value = std::move(value)};
}

// All elements as they are read, an expanded tensor's slices repeated. Empty: too many to look at.
std::vector<Number> values_of(const Case& c, const TensorSpec& tensor) {
  const auto shape = concrete_shape(tensor, c.shapes);
  const std::int64_t count = shape ? element_count(*shape) : 0, slice = readable_elements(c, tensor);
  if (count == 0 || count > kSearchLimit) return {};
  std::vector<Number> values = contents(c, tensor);
  for (std::int64_t i = 0; i < count; ++i) {
    auto& value = values[static_cast<std::size_t>(i)];
    value = i < slice ? stored(c, tensor, value) : values[static_cast<std::size_t>(i % slice)];
  }
  return values;
}

Found broken_element(const Case& c, const ContractUse& use) {
  Found found;
  visit_outside(c, *use.tensor, use.bounds, [&](std::int64_t index, const Number& value) {
    found = breach_of(use, rule_text(use), index, value);
    found->outside = true;
    return false;
  });
  return found;
}

using Numbers = std::vector<std::int64_t>;

Numbers whole_numbers(const std::vector<Number>& values) {
  Numbers out;
  for (const Number& value : values) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) out.push_back(*integer);
  }
  return out;
}

// Sums that wrap are out of any bound.
std::int64_t sum_of(std::span<const std::int64_t> values) {
  std::int64_t sum = 0;
  for (const std::int64_t value : values) {
    if (__builtin_add_overflow(sum, value, &sum)) return INT64_MAX;
  }
  return sum;
}

Found broken_order(const ContractUse& use, std::span<const std::int64_t> row, std::int64_t at) {
  const std::string word(use.row->word);
  const Rule rule = use.row->rule;
  if (rule != Rule::ends && row.front() != 0) {
    return breach_of(use, "does not start at 0", at, row.front());
  }
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] < row[i - 1]) {
      return breach_of(use, "decreases", at + static_cast<std::int64_t>(i), row[i]);
    }
  }
  if (rule == Rule::starts && row.back() != use.size) {
    return breach_of(use, "does not end at " + word, at + static_cast<std::int64_t>(row.size()) - 1, row.back());
  }
  return std::nullopt;
}

Found broken_sum(const ContractUse& use, std::span<const std::int64_t> row, std::int64_t at) {
  if (!use.size) return std::nullopt;
  const std::int64_t sum = sum_of(row);
  const std::string word(use.row->word);
  if (use.row->rule == Rule::lengths) {
    if (sum <= *use.size) return std::nullopt;
    return breach_of(use, "adds up to more than " + word, at, row.front(), std::to_string(sum));
  }
  // A single repeat count stands for all rows.
  if (sum == *use.size || (use.row->at == 1 && row.size() == 1)) return std::nullopt;
  return breach_of(use, "does not add up to " + word, at, row.front(), std::to_string(sum));
}

Found broken_coordinates(const ContractUse& use, const Numbers& values) {
  const std::size_t columns = values.size() / use.sizes.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0 && values[i] < use.sizes[i / columns]) continue;
    return breach_of(use, rule_text(use), static_cast<std::int64_t>(i), values[i]);
  }
  return std::nullopt;
}

Found broken_labels(const ContractUse& use, const Numbers& values) {
  const bool rows = use.shape.size() == 2;
  if (rows && use.read.size() != static_cast<std::size_t>(use.shape[0])) return std::nullopt;
  const auto width = static_cast<std::size_t>(use.shape.empty() ? 0 : use.shape.back());
  const std::int64_t all = sum_of(use.read);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool read = rows ? static_cast<std::int64_t>(i % width) < use.read[i / width]  //
                           : static_cast<std::int64_t>(i) < all;
    if (!read || use.bounds.contain(values[i])) continue;
    return breach_of(use, rule_text(use), static_cast<std::int64_t>(i), values[i]);
  }
  return std::nullopt;
}

Found broken_mask(const Case& c, const ContractUse& use, const Numbers& values) {
  const Name* self = as_name(argument(*use.step, "self", 0));
  const TensorSpec* target = self ? c.find_tensor(self->text) : nullptr;
  const auto shape = target ? concrete_shape(*target, c.shapes) : Result<Dimensions>(Dimensions{});
  const auto masks = static_cast<std::int64_t>(values.size());
  // A mask that is stretched to fit counts once for each copy.
  if (!target || !shape || masks == 0 || element_count(*shape) % masks != 0) return std::nullopt;
  const std::int64_t taken =
      std::ranges::count_if(values, [](std::int64_t v) { return v != 0; }) * (element_count(*shape) / masks);
  if (taken <= *use.size) return std::nullopt;
  return breach_of(use, rule_text(use), 0, values.front(), std::to_string(taken) + " times true");
}

// Draws without replacement use up one positive weight each.
Found too_few_weights(const ContractUse& use, const std::vector<Number>& values, std::size_t columns) {
  for (std::size_t at = 0; at + columns <= values.size(); at += columns) {
    const std::span row(values.data() + at, columns);
    const std::int64_t positive = std::ranges::count_if(row, [](const Number& v) { return as_double(v) > 0; });
    const auto index = static_cast<std::int64_t>(at);
    if (positive == 0) return breach_of(use, "a row adds up to 0", index, values[at]);
    if (positive >= use.size.value_or(1)) continue;
    return breach_of(use, "a row has fewer positive weights than " + std::string(use.row->word), index, values[at]);
  }
  return std::nullopt;
}

// Requires: no element is outside the use's bounds, but for rules that bound elements by their place.
Found broken_together(const Case& c, const ContractUse& use) {
  const std::vector<Number> values = values_of(c, *use.tensor);
  if (values.empty()) return std::nullopt;
  const Numbers numbers = whole_numbers(values);
  const auto columns = static_cast<std::size_t>(use.shape.empty() ? 1 : use.shape.back());
  if (use.row->rule == Rule::weights) return too_few_weights(use, values, columns);
  if (numbers.size() != values.size()) return std::nullopt;
  if (use.row->rule == Rule::coordinates) return broken_coordinates(use, numbers);
  if (use.row->rule == Rule::used_labels) return broken_labels(use, numbers);
  if (use.row->rule == Rule::mask) return broken_mask(c, use, numbers);
  const bool sums = use.row->rule == Rule::lengths || use.row->rule == Rule::counts;
  if (use.row->rule == Rule::starts && use.shape.size() != 1) return std::nullopt;  // a batch has an end for each
  for (std::size_t at = 0; at + columns <= numbers.size(); at += columns) {
    const std::span row(numbers.data() + at, columns);
    const auto index = static_cast<std::int64_t>(at);
    if (auto found = sums ? broken_sum(use, row, index) : broken_order(use, row, index)) return found;
  }
  return std::nullopt;
}

bool looks_at_all(Rule rule) { return rule >= Rule::weights; }
bool bounds_by_place(Rule rule) { return rule == Rule::coordinates || rule == Rule::used_labels || rule == Rule::mask; }

Found breach_in(const Case& c, const ContractUse& use) {
  if (use.number) {
    if (use.bounds.contain(*use.number)) return std::nullopt;
    return breach_of(use, rule_text(use), 0, *use.number);
  }
  Found found;
  if (!bounds_by_place(use.row->rule)) found = broken_element(c, use);
  if (!found && looks_at_all(use.row->rule)) found = broken_together(c, use);
  return found;
}

}  // namespace

std::string Breach::condition() const { return std::string(use.row->argument) + ": " + rule; }

std::string Breach::text() const {
  const std::string where = use.tensor ? use.tensor->name + "[" + std::to_string(index) + "]" : std::string("it");
  return condition() + " (" + std::string(use.row->source) + "); " + where + " is " + value;
}

std::optional<Breach> first_breach(const Case& c) {
  for (const ContractUse& use : contract_uses(c)) {
    if (auto found = breach_in(c, use)) return found;
  }
  return std::nullopt;
}

std::vector<Breach> breaches(const Case& c) {
  std::vector<Breach> out;
  for (const ContractUse& use : contract_uses(c)) {
    if (auto found = breach_in(c, use)) out.push_back(*std::move(found));
  }
  return out;
}

}  // namespace dsafuzz
