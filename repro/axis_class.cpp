#include "repro/axis_class.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "repro/fill.h"

namespace dsafuzz {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_number(const Extent& extent) { return names_in(extent).empty(); }

// The new flat index of an old one, or -1.
std::int64_t moved(std::int64_t flat, const std::vector<KeptIndices>& axes) {
  std::int64_t out = 0, stride = 1;
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    const KeptIndices& kept = axes[axis];
    const std::int64_t index = kept.new_index(flat % kept.size());
    if (index < 0) return -1;
    out += index * stride;
    stride *= kept.count();
    flat /= kept.size();
  }
  return out;
}

void move_set_values(TensorSpec& tensor, const std::vector<KeptIndices>& axes, std::int64_t old_count) {
  std::map<std::int64_t, Number> kept;
  for (const auto& [flat, number] : tensor.set) {
    if (flat < 0 || flat >= old_count) continue;
    if (const std::int64_t index = moved(flat, axes); index >= 0) kept.emplace(index, number);
  }
  tensor.set = std::move(kept);
}

bool mentions(const Fill& fill, const std::vector<std::string>& variables) {
  if (fill.kind != Fill::Kind::randint) return false;
  return std::ranges::any_of(variables, [&](const std::string& v) {
    return contains(names_in(fill.from), v) || contains(names_in(fill.to), v);
  });
}

void sort_by_size(std::vector<AxisClass>& classes) {
  const auto key = [](const AxisClass& a) { return std::tuple(-a.size, a.variables, a.literals); };
  std::ranges::sort(classes, {}, key);
}

}  // namespace

std::vector<AxisClass> axis_classes(const Case& c) {
  std::vector<AxisClass> variables, singles, joint;
  std::map<std::int64_t, AxisClass> by_size;
  for (const auto& [name, size] : c.shapes) {
    if (size < 2) continue;
    variables.push_back({{name}, {}, size});
    by_size[size].variables.push_back(name);
  }
  for (std::size_t t = 0; t < c.tensors.size(); ++t) {
    for (std::size_t axis = 0; axis < c.tensors[t].shape.size(); ++axis) {
      const Extent& extent = c.tensors[t].shape[axis];
      const std::int64_t size = evaluate(extent, c.shapes).value_or(0);
      if (!is_number(extent) || size < 2) continue;
      singles.push_back({{}, {{t, axis}}, size});
      by_size[size].literals.emplace_back(t, axis);
    }
  }
  for (auto& [size, axes] : by_size) {
    axes.size = size;
    if (axes.variables.size() + axes.literals.size() > 1) joint.push_back(axes);
  }
  sort_by_size(variables), sort_by_size(singles), sort_by_size(joint);
  std::vector<AxisClass> out = std::move(variables);
  out.insert(out.end(), singles.begin(), singles.end());
  out.insert(out.end(), joint.begin(), joint.end());
  return out;
}

bool can_write_out(const Case& c, const TensorSpec& tensor) {
  const auto shape = concrete_shape(tensor, c.shapes);
  if (!shape || element_count(*shape) == 0 || element_count(*shape) > kWriteOutLimit) return false;
  const bool random = tensor.fill.kind == Fill::Kind::uniform || tensor.fill.kind == Fill::Kind::randn ||
                      tensor.fill.kind == Fill::Kind::randint;
  return !random || !is_floating(tensor.dtype);
}

TensorSpec as_set_values(const Case& c, const TensorSpec& tensor) {
  TensorSpec out = tensor;
  out.fill = Fill{};
  out.set.clear();
  const std::vector<Number> values = contents(c, tensor);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!number_equal(values[i], std::int64_t{0}) && !number_equal(values[i], 0.0)) {
      out.set.emplace(static_cast<std::int64_t>(i), values[i]);
    }
  }
  return out;
}

Case keep_along(const Case& c, const AxisClass& axes, const KeptIndices& keep) {
  Case out = c;
  const std::int64_t new_size = keep.count();
  for (const std::string& variable : axes.variables) out.shapes[variable] = new_size;
  for (std::size_t t = 0; t < c.tensors.size(); ++t) {
    const TensorSpec& before = c.tensors[t];
    TensorSpec& after = out.tensors[t];
    std::vector<KeptIndices> changes;
    bool changed = mentions(before.fill, axes.variables);
    for (std::size_t axis = 0; axis < before.shape.size(); ++axis) {
      const Extent& extent = before.shape[axis];
      const std::int64_t old_size = evaluate(extent, c.shapes).value_or(0);
      const bool listed = std::ranges::find(axes.literals, std::pair(t, axis)) != axes.literals.end();
      if (listed) after.shape[axis] = Extent::of(new_size);
      const bool shrinks = listed || contains(axes.variables, extent.text);
      const std::int64_t computed = std::max<std::int64_t>(0, evaluate(after.shape[axis], out.shapes).value_or(0));
      changes.push_back(shrinks ? keep : KeptIndices::first(old_size, computed));
      changed = changed || changes.back().size() != changes.back().count();
    }
    if (!changed) continue;
    if (before.fill.kind != Fill::Kind::constant && can_write_out(c, before))
      after = [&] {
        TensorSpec written = as_set_values(c, before);
        written.shape = after.shape;
        return written;
      }();
    const auto old_shape = concrete_shape(before, c.shapes);
    move_set_values(after, changes, old_shape ? element_count(*old_shape) : 0);
  }
  return out;
}

}  // namespace dsafuzz
