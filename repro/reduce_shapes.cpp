#include "repro/reduce_shapes.h"

#include <algorithm>
#include <cmath>
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
  Indices special;         // indices at which some tensor holds something else than its background
  std::int64_t plain = 0;  // how many others there are: interchangeable
  Indices hints;           // where the greatest and the least special value are
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
  out.plain = axes.size - static_cast<std::int64_t>(special.size());
  if (!values.empty()) {
    const auto by_value = [](const auto& a, const auto& b) { return a.first < b.first; };
    out.hints.push_back(std::ranges::max_element(values, by_value)->second);
    const std::int64_t least = std::ranges::min_element(values, by_value)->second;
    if (least != out.hints[0]) out.hints.push_back(least);
  }
  return out;
}

// The least sizes of the class with which some tensor has as many elements as an index of 32 bits cannot count, signed
// and unsigned; ascending.
Indices overflow_sizes(const Case& c, const AxisClass& axes) {
  std::set<std::int64_t> out;
  for (std::size_t t = 0; t < c.tensors.size(); ++t) {
    const TensorSpec& tensor = c.tensors[t];
    const auto shape = concrete_shape(tensor, c.shapes);
    if (!shape || element_count(*shape) == 0) continue;
    std::int64_t beside = 1;  // elements for each index of the class
    int times = 0;
    for (std::size_t axis = 0; axis < shape->size(); ++axis) {
      const bool listed = std::ranges::find(axes.literals, std::pair(t, axis)) != axes.literals.end() ||
                          std::ranges::find(axes.variables, tensor.shape[axis].text) != axes.variables.end();
      if (listed) ++times;
      if (!listed) beside *= (*shape)[axis];
    }
    for (const int bits : {31, 32}) {
      const double needed = std::ldexp(1.0, bits);
      if (times == 0 || static_cast<double>(element_count(*shape)) < needed) continue;
      const double size = std::ceil(std::pow(needed / static_cast<double>(beside), 1.0 / times));
      out.insert(static_cast<std::int64_t>(size));
    }
  }
  return {out.begin(), out.end()};
}

void shrink_class(ReduceSearch& search, const AxisClass& axes) {
  const Case base = search.best();
  const Along along = look_along(base, axes);
  const std::int64_t special_count = static_cast<std::int64_t>(along.special.size());
  bool host_rejected = false;
  const auto shows = [&](const Indices& special, std::int64_t plain) {
    const KeptIndices keep(axes.size, along.special, special, plain);
    if (keep.count() == 0) return false;
    if (keep.count() == axes.size) return true;
    const bool accepted = search.offer(keep_along(base, axes, keep));
    host_rejected = !accepted && search.last_verdict() == Verdict::host_reject;
    return accepted;
  };
  for (const std::int64_t hint : along.hints) {
    if (shows({hint}, 0)) return;
  }
  // How many of the interchangeable ones are needed: none (or one, where there are no others); else, for a bug that
  // needs size, what makes an index of 32 bits overflow, since every try with gigabytes is dear; else by bisection.
  const std::int64_t floor = along.special.empty() ? 1 : 0;
  std::int64_t plain = floor;
  if (along.plain > floor && !shows(along.special, floor)) {
    std::int64_t too_small = floor;
    plain = along.plain;
    for (const std::int64_t size : overflow_sizes(base, axes)) {
      const std::int64_t wanted = size - special_count;
      if (wanted <= too_small || wanted > plain) continue;
      if (wanted - 1 > too_small && shows(along.special, wanted - 1)) {
        plain = wanted - 1;
        break;
      }
      too_small = wanted - 1;
      if (wanted == plain || shows(along.special, wanted)) {
        plain = wanted;
        break;
      }
      too_small = wanted;
    }
    if (plain - too_small > 1 && plain == along.plain && !shows(along.special, plain - 1)) too_small = plain - 1;
    plain = least_that_shows(too_small, plain, [&](std::int64_t n) { return shows(along.special, n); });
  }
  if (along.special.size() < 2) return;
  // An operator that refuses the lone hint will refuse any other length too: this axis is tied to one elsewhere.
  if (host_rejected && plain == along.plain && !shows(Indices(along.special.begin() + 1, along.special.end()), plain)) {
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
    const auto keep = [&](Indices special, std::int64_t plain) {
      out.push_back(keep_along(c, axes, KeptIndices(axes.size, along.special, std::move(special), plain)));
    };
    for (std::size_t gone = 0; gone < along.special.size(); ++gone) {
      Indices rest = along.special;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(gone));
      keep(std::move(rest), along.plain);
    }
    if (along.plain > 0) keep(along.special, along.plain - 1);
  }
  return out;
}

}  // namespace dsafuzz
