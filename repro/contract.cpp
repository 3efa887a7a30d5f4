// The contracts as a table; shapes by one forward pass over the steps.
#include "repro/contract.h"

#include <algorithm>
#include <array>
#include <utility>

#include "repro/fill.h"

namespace dsafuzz {
namespace {

enum class Size { class_axis, first_axis, dim_argument, elements, per_index, count_argument };

struct Contract {
  std::string_view op, data;
  std::size_t data_at;
  std::string_view index;
  std::size_t index_at;
  Size size;
  bool negative;  // [-size, size) is legal
};
constexpr std::array kContracts{Contract{"cross_entropy_loss", "self", 0, "target", 1, Size::class_axis, false},
                                Contract{"nll_loss", "self", 0, "target", 1, Size::class_axis, false},
                                Contract{"nll_loss_nd", "self", 0, "target", 1, Size::class_axis, false},
                                Contract{"nll_loss2d", "self", 0, "target", 1, Size::class_axis, false},
                                Contract{"nll_loss_forward", "self", 0, "target", 1, Size::class_axis, false},
                                Contract{"nll_loss2d_forward", "self", 0, "target", 1, Size::class_axis, false},
                                Contract{"multi_margin_loss", "self", 0, "target", 1, Size::class_axis, false},
                                Contract{"embedding", "weight", 0, "indices", 1, Size::first_axis, false},
                                Contract{"embedding_bag", "weight", 0, "indices", 1, Size::first_axis, false},
                                Contract{"_embedding_bag", "weight", 0, "indices", 1, Size::first_axis, false},
                                Contract{"index_select", "self", 0, "index", 2, Size::dim_argument, false},
                                Contract{"gather", "self", 0, "index", 2, Size::dim_argument, false},
                                Contract{"scatter", "self", 0, "index", 2, Size::dim_argument, false},
                                Contract{"scatter_add", "self", 0, "index", 2, Size::dim_argument, false},
                                Contract{"scatter_reduce", "self", 0, "index", 2, Size::dim_argument, false},
                                Contract{"index_add", "self", 0, "index", 2, Size::dim_argument, false},
                                Contract{"index_copy", "self", 0, "index", 2, Size::dim_argument, false},
                                Contract{"index_fill", "self", 0, "index", 2, Size::dim_argument, true},
                                Contract{"take", "self", 0, "index", 1, Size::elements, true},
                                Contract{"put", "self", 0, "index", 1, Size::elements, true},
                                Contract{"index", "self", 0, "indices", 1, Size::per_index, true},
                                Contract{"index_put", "self", 0, "indices", 1, Size::per_index, true},
                                Contract{"one_hot", "", 0, "self", 0, Size::count_argument, false}};

// Results that hold their first argument's elements, and those that have its shape only.
constexpr std::array<std::string_view, 10> kSameElements{"to",      "_to_copy", "clone", "contiguous", "detach",
                                                         "flatten", "reshape",  "view",  "squeeze",    "unsqueeze"};
constexpr std::array<std::string_view, 16> kSameShape{
    "to",   "_to_copy", "clone", "contiguous", "detach",  "relu",     "sigmoid",     "tanh",
    "gelu", "neg",      "exp",   "log",        "softmax", "_softmax", "log_softmax", "dropout"};

template <std::size_t N>
bool among(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

const Name* as_name(const Value* value) { return value ? std::get_if<Name>(&value->v) : nullptr; }

std::optional<std::int64_t> as_integer(const Case& c, const Value* value) {
  if (!value) return std::nullopt;
  if (const auto* number = std::get_if<std::int64_t>(&value->v)) return *number;
  if (const Name* name = as_name(value)) {
    if (const auto found = c.shapes.find(name->text); found != c.shapes.end()) return found->second;
  }
  return std::nullopt;
}

using Dimensions = std::vector<std::int64_t>;

// Empty optional: no rule for this operator.
std::optional<Dimensions> result_shape(const Step& step, const std::map<std::string, Dimensions>& shapes) {
  auto shape_at = [&](std::size_t position) -> const Dimensions* {
    const Name* name = position < step.arguments.size() ? as_name(&step.arguments[position].value) : nullptr;
    const auto found = name ? shapes.find(name->text) : shapes.end();
    return found == shapes.end() ? nullptr : &found->second;
  };
  const std::string_view op = base_name(step.op);
  const Dimensions* first = shape_at(0);
  const Dimensions* second = shape_at(1);
  if (!first) return std::nullopt;
  if (among(op, kSameShape)) return *first;
  Dimensions shape = *first;
  if (op == "linear" && second && !shape.empty() && second->size() == 2) {
    shape.back() = (*second)[0];
    return shape;
  }
  if ((op == "mm" || op == "matmul") && second && shape.size() == 2 && second->size() == 2) {
    shape[1] = (*second)[1];
    return shape;
  }
  return std::nullopt;
}

std::string_view size_word(Size size) {
  switch (size) {
    case Size::class_axis: return "classes";
    case Size::first_axis: return "rows";
    case Size::dim_argument:
    case Size::per_index: return "size";
    case Size::elements: return "elements";
    case Size::count_argument: return "num_classes";
  }
  std::unreachable();
}

// The size that bounds an index, and which axis of the data it is.
struct Bound {
  std::int64_t size = 0;
  int axis = 0;
};
std::optional<Bound> bound_of(const Case& c, const Step& step, const Contract& contract, const Dimensions& data,
                              std::size_t position_in_list) {
  const int rank = static_cast<int>(data.size());
  auto axis_bound = [&](int axis) -> std::optional<Bound> {
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return std::nullopt;
    return Bound{data[static_cast<std::size_t>(axis)], axis};
  };
  switch (contract.size) {
    case Size::class_axis: return axis_bound(rank > 1 ? 1 : 0);
    case Size::first_axis: return axis_bound(0);
    case Size::dim_argument: {
      const auto dim = as_integer(c, argument(step, "dim", 1));
      return dim && *dim >= -rank && *dim < rank ? axis_bound(static_cast<int>(*dim)) : std::nullopt;
    }
    case Size::elements: return Bound{element_count(data), -1};
    case Size::per_index:
      return position_in_list < data.size() ? axis_bound(static_cast<int>(position_in_list)) : std::nullopt;
    case Size::count_argument: {
      const auto count = as_integer(c, argument(step, "num_classes", 1));
      return count && *count > 0 ? std::optional(Bound{*count, 0}) : std::nullopt;
    }
  }
  std::unreachable();
}

}  // namespace

std::string_view base_name(std::string_view op) {
  if (const std::size_t colon = op.rfind("::"); colon != std::string_view::npos) op.remove_prefix(colon + 2);
  op = op.substr(0, op.find('.'));
  if (op.size() > 1 && op.ends_with('_')) op.remove_suffix(1);
  return op;
}

const Value* argument(const Step& step, std::string_view name, std::size_t position) {
  for (const Argument& each : step.arguments) {
    if (each.name == name) return &each.value;
  }
  const bool positional = position < step.arguments.size() && step.arguments[position].name.empty();
  return positional ? &step.arguments[position].value : nullptr;
}

const TensorSpec* source_tensor(const Case& c, std::string_view name) {
  std::string current(name);
  for (std::size_t i = c.steps.size(); i-- > 0;) {  // backwards: a result is made before its use
    const Step& step = c.steps[i];
    if (std::ranges::find(step.results, current) == step.results.end()) continue;
    const Name* from = step.arguments.empty() ? nullptr : as_name(&step.arguments[0].value);
    if (!from || !among(base_name(step.op), kSameElements)) return nullptr;
    current = from->text;
  }
  return c.find_tensor(current);
}

std::map<std::string, Dimensions> known_shapes(const Case& c) {
  std::map<std::string, Dimensions> shapes;
  for (const TensorSpec& tensor : c.tensors) {
    if (auto shape = concrete_shape(tensor, c.shapes)) shapes[tensor.name] = *std::move(shape);
  }
  for (const Step& step : c.steps) {
    if (step.results.empty()) continue;
    if (auto shape = result_shape(step, shapes)) {
      shapes[step.results[0]] = *std::move(shape);
    } else {
      for (const std::string& result : step.results) shapes.erase(result);
    }
  }
  return shapes;
}

std::vector<IndexUse> index_uses(const Case& c, const Step& step) {
  std::vector<IndexUse> uses;
  const auto contract = std::ranges::find(kContracts, base_name(step.op), &Contract::op);
  if (contract == kContracts.end()) return uses;
  const auto shapes = known_shapes(c);
  const Name* data = contract->data.empty() ? nullptr : as_name(argument(step, contract->data, contract->data_at));
  const auto data_shape = data ? shapes.find(data->text) : shapes.end();
  if (!contract->data.empty() && data_shape == shapes.end()) return uses;

  auto add = [&](const Value& value, std::size_t position_in_list) {
    const Name* name = as_name(&value);
    const TensorSpec* tensor = name ? source_tensor(c, name->text) : nullptr;
    if (!tensor || is_floating(tensor->dtype) || tensor->dtype == Dtype::boolean) return;
    const auto bound =
        bound_of(c, step, *contract, data_shape == shapes.end() ? Dimensions{} : data_shape->second, position_in_list);
    if (!bound) return;
    IndexUse use;
    use.tensor = tensor;
    use.argument = name->text;
    if (data) use.data = data->text;
    use.axis = bound->axis;
    use.from = contract->negative ? -bound->size : 0;
    use.to = bound->size;
    use.role = contract->index;
    use.size = size_word(contract->size);
    use.classes = contract->size == Size::class_axis || contract->size == Size::count_argument;
    if (contract->size == Size::class_axis && contract->op != "multi_margin_loss") {
      const std::size_t ignore_at = 4;
      use.also.push_back(as_integer(c, argument(step, "ignore_index", ignore_at)).value_or(-100));
    }
    uses.push_back(std::move(use));
  };
  const Value* index = argument(step, contract->index, contract->index_at);
  if (!index) return uses;
  if (const List* list = std::get_if<List>(&index->v)) {
    for (std::size_t i = 0; i < list->size(); ++i) add((*list)[i], i);
  } else {
    add(*index, 0);
  }
  return uses;
}

std::map<std::int64_t, Number> elements_to_search(const Case& c, const TensorSpec& tensor) {
  const auto shape = concrete_shape(tensor, c.shapes);
  if (!shape) return {};
  const std::int64_t count = element_count(*shape);
  std::map<std::int64_t, Number> elements;
  if (count > kSearchLimit) {
    for (const auto& [index, value] : tensor.set) {
      if (index < count) elements.emplace(index, value);
    }
    return elements;
  }
  std::int64_t index = 0;
  for (Number& value : contents(c, tensor)) elements.emplace_hint(elements.end(), index++, std::move(value));
  return elements;
}

std::optional<Offender> first_offender(const Case& c, const IndexUse& use) {
  for (const auto& [index, number] : elements_to_search(c, *use.tensor)) {
    const auto* value = std::get_if<std::int64_t>(&number);
    if (!value || (*value >= use.from && *value < use.to)) continue;
    if (std::ranges::find(use.also, *value) == use.also.end()) return Offender{index, *value};
  }
  return std::nullopt;
}

std::string Breach::text() const {
  return tensor->name + "[" + std::to_string(index) + "] is " + value + "; " + condition();
}

std::optional<Breach> first_breach(const Case& c) {
  for (const Step& step : c.steps) {
    for (const IndexUse& use : index_uses(c, step)) {
      const auto offender = first_offender(c, use);
      if (!offender) continue;
      const std::string size(use.size);
      const std::string rule = "not in [" + (use.from < 0 ? "-" + size : "0") + ", " + size + ")";
      return Breach{&step, use.tensor, std::string(use.role), rule, offender->index, std::to_string(offender->value)};
    }
  }
  return std::nullopt;
}

}  // namespace dsafuzz
