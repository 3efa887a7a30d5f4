#include "repro/reduce_shapes.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "repro/axis_class.h"
#include "repro/fill.h"
#include "repro/needed_items.h"

namespace dsafuzz {
namespace {

constexpr int kPatience = 128;

using Indices = std::vector<std::int64_t>;

// What lies along a class of axes.
struct Along {
  Indices special;  // indices at which some tensor holds something else than its background
  Indices plain;    // all others: interchangeable
  Indices hints;    // where the greatest and the least special value are
};

Along look_along(const Case& c, const AxisClass& axes) {
  std::set<std::int64_t> special;
  std::vector<std::pair<double, std::int64_t>> values;  // value, index
  for (std::size_t t = 0; t < c.tensors.size(); ++t) {
    const TensorSpec& tensor = c.tensors[t];
    if (!can_write_out(c, tensor) && tensor.fill.kind != Fill::Kind::constant) continue;
    const TensorSpec written = tensor.fill.kind == Fill::Kind::constant ? tensor : as_set_values(c, tensor);
    const auto shape = concrete_shape(tensor, c.shapes);
    if (!shape) continue;
    const std::int64_t count = element_count(*shape);
    std::int64_t stride = count;
    for (std::size_t axis = 0; axis < shape->size(); ++axis) {
      const std::int64_t size = (*shape)[axis];
      if (size == 0) break;
      stride /= size;
      const bool listed = std::ranges::find(axes.literals, std::pair(t, axis)) != axes.literals.end();
      if (!listed && std::ranges::find(axes.variables, tensor.shape[axis].text) == axes.variables.end()) continue;
      for (const auto& [flat, number] : written.set) {
        if (flat < 0 || flat >= count) continue;
        special.insert(flat / stride % size);
        values.emplace_back(as_double(number), flat / stride % size);
      }
    }
  }
  Along out;
  out.special.assign(special.begin(), special.end());
  for (std::int64_t i = 0; i < axes.size; ++i) {
    if (!special.contains(i)) out.plain.push_back(i);
  }
  if (!values.empty()) {
    const auto by_value = [](const auto& a, const auto& b) { return a.first < b.first; };
    out.hints.push_back(std::ranges::max_element(values, by_value)->second);
    const std::int64_t least = std::ranges::min_element(values, by_value)->second;
    if (least != out.hints[0]) out.hints.push_back(least);
  }
  return out;
}

Indices merged(Indices special, const Indices& plain, std::int64_t plain_count) {
  special.insert(special.end(), plain.begin(), plain.begin() + plain_count);
  std::ranges::sort(special);
  return special;
}

void shrink_class(ReduceSearch& search, const AxisClass& axes) {
  const Case base = search.best();
  const Along along = look_along(base, axes);
  const std::int64_t plain_count = static_cast<std::int64_t>(along.plain.size());
  bool host_rejected = false;
  const auto shows = [&](const Indices& special, std::int64_t plain) {
    const Indices keep = merged(special, along.plain, plain);
    if (keep.empty()) return false;
    if (static_cast<std::int64_t>(keep.size()) == axes.size) return true;
    const bool accepted = search.offer(keep_along(base, axes, keep));
    host_rejected = !accepted && search.last_verdict() == Verdict::host_reject;
    return accepted;
  };
  for (const std::int64_t hint : along.hints) {
    if (shows({hint}, 0)) return;
  }
  // How many of the interchangeable ones are needed: none (or one, where there are no others), else by bisection.
  const std::int64_t floor = along.special.empty() ? 1 : 0;
  std::int64_t plain = floor;
  if (plain_count > floor && !shows(along.special, floor)) {
    plain = plain_count;
    if (plain_count - 1 > floor && shows(along.special, plain_count - 1)) {
      plain = least_that_shows(floor, plain_count - 1, [&](std::int64_t n) { return shows(along.special, n); });
    }
  }
  if (along.special.size() < 2) return;
  // An operator that refuses the lone hint will refuse any other length too: this axis is tied to one elsewhere.
  if (host_rejected && plain == plain_count && !shows(Indices(along.special.begin() + 1, along.special.end()), plain)) {
    if (search.last_verdict() == Verdict::host_reject) return;
  }
  needed_items(
      along.special, [&](const Indices& special) { return shows(special, plain); }, kPatience);
}

}  // namespace

void reduce_sizes(ReduceSearch& search) {
  // The list is made anew after each success, since names and sizes change; classes already tried are not repeated.
  std::set<std::string> tried;
  for (bool again = true; again && !search.stopped();) {
    again = false;
    for (const AxisClass& axes : axis_classes(search.best())) {
      std::string key;
      for (const std::string& variable : axes.variables) key += variable + " ";
      for (const auto& [tensor, axis] : axes.literals) key += std::to_string(tensor) + "." + std::to_string(axis) + " ";
      if (!tried.insert(key).second) continue;
      shrink_class(search, axes);
      again = true;
      break;
    }
  }
}

std::vector<Case> single_size_edits(const Case& c) {
  std::vector<Case> out;
  for (const AxisClass& axes : axis_classes(c)) {
    const Along along = look_along(c, axes);
    Indices dropped = along.special;
    if (!along.plain.empty()) dropped.push_back(along.plain.back());
    for (const std::int64_t gone : dropped) {
      Indices keep(axes.size);
      std::iota(keep.begin(), keep.end(), std::int64_t{0});
      keep.erase(keep.begin() + gone);
      out.push_back(keep_along(c, axes, keep));
    }
  }
  return out;
}

}  // namespace dsafuzz
