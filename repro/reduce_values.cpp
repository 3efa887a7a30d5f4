#include "repro/reduce_values.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "repro/axis_class.h"
#include "repro/fill.h"
#include "repro/needed_items.h"
#include "repro/simpler.h"

namespace dsafuzz {
namespace {

constexpr int kPatience = 64;
constexpr std::int64_t kRandomFloatLimit = 4'096;  // random floats are written out only up to here

using Element = std::pair<std::int64_t, Number>;

bool is_zero(const Number& n) { return as_double(n) == 0; }

bool all_zero(const TensorSpec& t) {
  return t.fill.kind == Fill::Kind::constant && is_zero(t.fill.constant) && t.set.empty();
}

Case with_tensor(const Case& c, std::size_t index, const TensorSpec& tensor) {
  Case out = c;
  out.tensors[index] = tensor;
  return out;
}

TensorSpec with_elements(const TensorSpec& tensor, const std::vector<Element>& elements) {
  TensorSpec out = tensor;
  out.fill = Fill{};
  out.set = {elements.begin(), elements.end()};
  return out;
}

bool can_be_written(const Case& c, const TensorSpec& t) {
  if (can_write_out(c, t)) return true;
  const auto shape = concrete_shape(t, c.shapes);
  return shape && element_count(*shape) > 0 && element_count(*shape) <= kRandomFloatLimit;
}

// Smaller sets around the extremes, since what is out of range lies there: the 1, 2, 4, 8 greatest, the same of the
// least where they are negative.
bool keep_extremes(std::vector<Element> elements, const auto& shows) {
  std::ranges::sort(elements, {}, [](const Element& e) {
    const double value = as_double(e.second);
    return std::pair(std::isnan(value) ? -INFINITY : -value, e.first);
  });
  const auto ordered = [](std::vector<Element> some) {
    std::ranges::sort(some, {}, &Element::first);
    return some;
  };
  for (std::size_t n = 1; n <= 8 && n < elements.size(); n *= 2) {
    if (shows(ordered({elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(n)}))) return true;
    if (as_double(elements.back().second) < 0 &&
        shows(ordered({elements.end() - static_cast<std::ptrdiff_t>(n), elements.end()}))) {
      return true;
    }
  }
  return false;
}

void reduce_tensor(ReduceSearch& search, std::size_t index) {
  const Case before = search.best();
  const TensorSpec& tensor = before.tensors[index];
  if (all_zero(tensor)) return;
  if (search.offer(with_tensor(before, index, with_elements(tensor, {})))) return;
  TensorSpec one = with_elements(tensor, {});
  one.fill.constant = std::int64_t{1};
  if (is_floating(tensor.dtype) && search.offer(with_tensor(before, index, one))) return;
  std::vector<Element> elements;
  if (tensor.fill.kind == Fill::Kind::constant && is_zero(tensor.fill.constant)) {
    elements.assign(tensor.set.begin(), tensor.set.end());
  } else if (can_be_written(before, tensor)) {
    const TensorSpec written = as_set_values(before, tensor);
    elements.assign(written.set.begin(), written.set.end());
  } else {
    // Too large to write out: at least the fill may not matter, beside what is set on it.
    elements.assign(tensor.set.begin(), tensor.set.end());
    if (!search.offer(with_tensor(before, index, with_elements(tensor, elements)))) return;
  }
  if (elements.size() < 2) return;
  search.restate(with_tensor(before, index, with_elements(tensor, elements)));
  bool any = false;
  const auto shows = [&](const std::vector<Element>& kept) {
    const bool accepted = search.offer(with_tensor(before, index, with_elements(tensor, kept)));
    any = any || accepted;
    return accepted;
  };
  if (keep_extremes(elements, shows)) {
    const auto& left = search.best().tensors[index].set;
    elements.assign(left.begin(), left.end());
  }
  if (elements.size() > 1) needed_items(elements, shows, kPatience);
  if (!any) search.restate(before);
}

// Sizes of the case: what an index or a label is compared with.
std::set<std::int64_t> sizes_of(const Case& c) {
  std::set<std::int64_t> out;
  for (const TensorSpec& t : c.tensors) {
    if (const auto shape = concrete_shape(t, c.shapes)) out.insert(shape->begin(), shape->end());
  }
  return out;
}

bool nearer(const Number& a, const Number& b) {
  const double x = as_double(a), y = as_double(b);
  if (std::isnan(x)) return false;
  if (std::isnan(y)) return true;
  return std::abs(x) < std::abs(y) || (std::abs(x) == std::abs(y) && x > y);
}

// One element, by its index, or the constant of the fill (-1).
Case with_value(const Case& c, std::size_t tensor, std::int64_t element, const Number& value) {
  Case out = c;
  TensorSpec& t = out.tensors[tensor];
  if (element < 0) {
    t.fill.constant = value;
  } else if (is_zero(value) && t.fill.kind == Fill::Kind::constant && is_zero(t.fill.constant)) {
    t.set.erase(element);
  } else {
    t.set[element] = value;
  }
  return out;
}

std::vector<std::pair<std::int64_t, Number>> values_of(const TensorSpec& t) {
  std::vector<Element> out;
  if (t.fill.kind == Fill::Kind::constant && !is_zero(t.fill.constant)) out.emplace_back(-1, t.fill.constant);
  out.insert(out.end(), t.set.begin(), t.set.end());
  return out;
}

void reduce_element(ReduceSearch& search, std::size_t tensor, std::int64_t element, const Number& start) {
  const Case base = search.best();
  const auto shows = [&](const Number& value) { return search.offer(with_value(base, tensor, element, value)); };
  std::int64_t too_near = 0;  // known not to show
  std::int64_t enough = 0;
  if (const auto* integer = std::get_if<std::int64_t>(&start)) {
    enough = *integer;
    for (const Number& candidate : nearer_to_zero(base, start)) {
      const std::int64_t value = std::get<std::int64_t>(candidate);
      if (!shows(candidate)) {
        if ((value < 0) == (enough < 0) && std::abs(value) > std::abs(too_near)) too_near = value;
        continue;
      }
      enough = value;
      break;
    }
    if (enough > 0 && too_near < enough) {
      least_that_shows(too_near, enough, [&](std::int64_t v) { return shows(v); });
    } else if (enough < 0 && enough != INT64_MIN && too_near > enough) {
      least_that_shows(-too_near, -enough, [&](std::int64_t v) { return shows(-v); });
    }
    return;
  }
  for (const Number& candidate : nearer_to_zero(base, start)) {
    if (shows(candidate)) return;
  }
}

}  // namespace

std::vector<Number> nearer_to_zero(const Case& c, const Number& number) {
  std::vector<Number> out;
  const auto add = [&](const Number& candidate) {
    const bool known = std::ranges::any_of(out, [&](const Number& n) { return number_equal(n, candidate); });
    if (!known && nearer(candidate, number)) out.push_back(candidate);
  };
  if (std::holds_alternative<double>(number)) {
    const double value = std::get<double>(number);
    for (const double plain : {0.0, 1.0, -1.0, 2.0, -2.0}) add(plain);
    if (std::isfinite(value)) add(std::trunc(value)), add(value < 0 ? std::floor(value) : std::ceil(value));
    return out;
  }
  const std::int64_t value = std::get<std::int64_t>(number);
  for (const std::int64_t plain : {0, 1, -1}) add(plain);
  for (const std::int64_t size : sizes_of(c)) {
    if (value > 0) add(size);
    if (value < 0) add(-size), add(-size - 1);
  }
  if (value != INT64_MIN) add(value > 0 ? value - 1 : value + 1);
  return out;
}

void reduce_culprits(ReduceSearch& search) {
  for (std::size_t i = 0; i < search.best().tensors.size() && !search.stopped(); ++i) reduce_tensor(search, i);
}

void reduce_magnitudes(ReduceSearch& search) {
  for (std::size_t i = 0; i < search.best().tensors.size(); ++i) {
    for (const auto& [element, value] : values_of(search.best().tensors[i])) {
      if (search.stopped()) return;
      reduce_element(search, i, element, value);
    }
  }
}

void write_out_fills(ReduceSearch& search) {
  Case words = search.best();
  for (TensorSpec& t : words.tensors) {
    const auto shape = concrete_shape(t, words.shapes);
    const bool few = shape && element_count(*shape) <= 64;
    const bool constant = t.fill.kind == Fill::Kind::constant;
    const bool sparse = constant && is_zero(t.fill.constant);
    if (!sparse && can_write_out(words, t) && (few || t.fill.kind == Fill::Kind::literal)) {
      t = as_set_values(search.best(), t);
    }
    // Indices past the end mean nothing.
    if (shape) t.set.erase(t.set.lower_bound(element_count(*shape)), t.set.end());
  }
  search.restate(words);
}

void reword_fills(ReduceSearch& search) {
  for (std::size_t i = 0; i < search.best().tensors.size(); ++i) {
    const Case base = search.best();
    const TensorSpec& tensor = base.tensors[i];
    if (all_zero(tensor) || !can_write_out(base, tensor)) continue;
    const std::vector<Number> values = contents(base, tensor);
    std::vector<TensorSpec> wordings{as_set_values(base, tensor)};
    if (std::ranges::all_of(values, [&](const Number& n) { return number_equal(n, values[0]); })) {
      wordings.push_back(with_elements(tensor, {}));
      wordings.back().fill.constant = values[0];
    } else if (values.size() <= 16) {
      wordings.push_back(with_literal_contents(base, tensor));
    }
    for (const TensorSpec& wording : wordings) {
      const Case same = with_tensor(base, i, wording);
      if (simpler(same, search.best())) search.restate(same);
    }
  }
}

std::vector<Case> single_value_edits(const Case& c) {
  std::vector<Case> out;
  for (std::size_t i = 0; i < c.tensors.size(); ++i) {
    for (const auto& [element, value] : values_of(c.tensors[i])) {
      for (const Number& nearer : nearer_to_zero(c, value)) out.push_back(with_value(c, i, element, nearer));
    }
  }
  return out;
}

}  // namespace dsafuzz
