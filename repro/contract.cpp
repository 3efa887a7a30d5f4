// The rows of the table, met with one forward pass over the steps.
#include "repro/contract.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <utility>

#include "repro/fill.h"

namespace dsafuzz {
namespace {

constexpr double kGreatest = std::numeric_limits<double>::max();

bool applies(const ContractRow& row, const Step& step) {
  const auto given = [&](std::string_view name, std::size_t at) {
    const Value* value = argument(step, name, at);
    return value && !std::holds_alternative<std::monostate>(value->v);
  };
  const auto replaces = [&] {
    const Value* value = argument(step, "replacement", 2);
    return value && value->v == Value{true}.v;
  };
  switch (row.when) {
    case When::always: return true;
    case When::alone:
      return !writes_in_place(step.op) && !given("p", 1) && !given("repeats", 1) &&
             (step.arguments.size() < 2 || !step.arguments[1].name.empty());
    case When::not_in_place: return !writes_in_place(step.op);
    case When::with_dim: return given("dim", 2);
    case When::without_dim: return !given("dim", 2);
    case When::rounding: return given("rounding_mode", 2);
    case When::without_range: return !given("min", 2) && !given("max", 3);
    case When::with_replacement: return replaces();
    case When::without_replacement: return !replaces();
  }
  std::unreachable();
}

struct Bound {
  std::int64_t size = 0;
  int axis = 0;
};

// What the row's Size comes to, and which axis of the data it is; nothing if unknown.
std::optional<Bound> extent_of(const Case& c, const Step& step, const ContractRow& row, const ProgramState& state,
                               std::size_t position_in_list, const Dimensions& own) {
  const Value* of = row.of.empty() ? nullptr : argument(step, row.of, row.of_at);
  const Name* name = as_name(of);
  const Dimensions* data = name ? state.shape(name->text) : nullptr;
  const auto axis = [&](int at) -> std::optional<Bound> {
    const int rank = data ? static_cast<int>(data->size()) : 0;
    if (at < 0) at += rank;
    if (!data || at < 0 || at >= rank) return std::nullopt;
    return Bound{(*data)[static_cast<std::size_t>(at)], at};
  };
  const auto last = [&](std::size_t count) -> std::optional<Bound> {
    if (!data || data->size() < count) return std::nullopt;
    return Bound{element_count({data->end() - static_cast<long>(count), data->end()}), -1};
  };
  switch (row.size) {
    case Size::none: return Bound{};
    case Size::class_axis: return axis(data && data->size() > 1 ? 1 : 0);
    case Size::first_axis: return axis(0);
    case Size::last_axis: return axis(-1);
    case Size::matrix_rows: return axis(-2);
    case Size::dim_axis: {
      const bool behind = row.op == "take_along_dim";  // the only one that takes dim after the indices
      const auto dim = as_integer(c, argument(step, "dim", behind ? 2 : 1));
      const auto rank = data ? static_cast<std::int64_t>(data->size()) : 0;
      return dim && *dim >= -rank && *dim < rank ? axis(static_cast<int>(*dim)) : std::nullopt;
    }
    case Size::listed_axis: return axis(static_cast<int>(position_in_list));
    case Size::own_rank: return own.empty() ? std::nullopt : axis(static_cast<int>(own.size()) - 1);
    case Size::elements: return data ? std::optional(Bound{element_count(*data), -1}) : std::nullopt;
    case Size::last_two: return last(2);
    case Size::last_three: return last(3);
    case Size::grouped: {
      const Name* second = as_name(argument(step, "mat2", 1));
      const Dimensions* other = second ? state.shape(second->text) : nullptr;
      if (!data || !other) return std::nullopt;
      if (data->size() == 2) return axis(other->size() == 2 ? 1 : 0);
      if (other->size() == 2) return Bound{other->back(), -1};
      return std::nullopt;
    }
    case Size::number: {
      const auto number = as_integer(c, of);
      return number && *number >= 0 ? std::optional(Bound{*number, 0}) : std::nullopt;
    }
    case Size::product:
    case Size::list_first:
    case Size::list_second: {
      const auto list = as_integers(c, of);
      if (!list || std::ranges::any_of(*list, [](std::int64_t n) { return n < 0; })) return std::nullopt;
      if (row.size == Size::product) return Bound{element_count(*list), 0};
      if (list->size() != 2) return std::nullopt;
      return Bound{(*list)[row.size == Size::list_second], 0};
    }
  }
  std::unreachable();
}

// Positions into something that has no elements touch nothing, whatever they are.
bool touches_nothing(const ContractRow& row, const Step& step, const ProgramState& state) {
  switch (row.size) {
    case Size::first_axis:
    case Size::dim_axis:
    case Size::listed_axis: break;
    default: return false;
  }
  const Name* name = as_name(argument(step, row.of, row.of_at));
  const Dimensions* data = name ? state.shape(name->text) : nullptr;
  return data && element_count(*data) == 0;
}

bool takes_floats(Rule rule) {
  switch (rule) {
    case Rule::probability:
    case Rule::not_negative:
    case Rule::rate:
    case Rule::positive:
    case Rule::finite:
    case Rule::nonzero:
    case Rule::weights: return true;
    case Rule::position:
    case Rule::wrapping:
    case Rule::label:
    case Rule::padded:
    case Rule::ended_labels:
    case Rule::one_based:
    case Rule::up_to:
    case Rule::between:
    case Rule::divisor:
    case Rule::lengths:
    case Rule::counts:
    case Rule::offsets:
    case Rule::ends:
    case Rule::starts:
    case Rule::coordinates:
    case Rule::used_labels:
    case Rule::mask: return false;
  }
  std::unreachable();
}

Bounds real_bounds(double from, double to) { return {.also = {}, .real = true, .real_from = from, .real_to = to}; }

// What each element must satisfy by itself; nothing if a number that decides is unknown.
std::optional<Bounds> element_bounds(const Case& c, const ContractUse& use) {
  const Step& step = *use.step;
  const std::int64_t size = use.size.value_or(0);
  const std::int64_t behind = size == INT64_MAX ? size : size + 1;
  switch (use.row->rule) {
    case Rule::position: return Bounds{.from = 0, .to = size, .also = {}};
    case Rule::wrapping: return Bounds{.from = -size, .to = size, .also = {}};
    case Rule::label: {
      const bool backward = use.row->at == 2;  // grad_output comes first
      const auto ignored = as_integer(c, argument(step, "ignore_index", backward ? 5 : 4));
      return Bounds{.from = 0, .to = size, .also = {ignored.value_or(-100)}};
    }
    case Rule::padded: {
      const auto padding = as_integer(c, argument(step, "padding_idx", 3));
      if (!padding) return std::nullopt;
      return Bounds{.from = 0, .to = size, .also = {*padding}};
    }
    case Rule::ended_labels: return Bounds{.from = -1, .to = size, .also = {}};
    case Rule::one_based: return Bounds{.from = 1, .to = behind, .also = {}};
    case Rule::between: {
      const auto least = as_integer(c, argument(step, use.row->of, use.row->of_at));
      const auto most = as_integer(c, argument(step, "quant_max", use.row->of_at + 1));
      if (!least || !most || *most == INT64_MAX) return std::nullopt;
      return Bounds{.from = *least, .to = *most + 1, .also = {}};
    }
    case Rule::probability: return real_bounds(0, 1);
    case Rule::not_negative: return real_bounds(0, std::numeric_limits<double>::infinity());
    case Rule::rate:
    case Rule::weights: return real_bounds(0, kGreatest);
    case Rule::positive:
      return real_bounds(std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::infinity());
    case Rule::finite: return real_bounds(-kGreatest, kGreatest);
    case Rule::nonzero:
    case Rule::divisor: return Bounds{.from = 1, .to = 1000, .also = {}, .nonzero = true};
    case Rule::lengths:
    case Rule::up_to:
    case Rule::offsets:
    case Rule::ends:
    case Rule::starts: return Bounds{.from = 0, .to = behind, .also = {}};
    case Rule::counts: return Bounds{.from = 0, .to = use.size ? behind : INT64_MAX, .also = {}};
    case Rule::coordinates: {
      const auto [least, most] = std::ranges::minmax(use.sizes);
      return Bounds{.from = 0, .to = least == most ? most : INT64_MAX, .also = {}};
    }
    case Rule::used_labels: return Bounds{.from = 0, .to = size, .also = {}};
    case Rule::mask: return Bounds{.from = 0, .to = 2, .also = {}};
  }
  std::unreachable();
}

// How many labels of each sample ctc_loss reads: numbers in the call, or a tensor of the case.
std::optional<std::vector<std::int64_t>> labels_read(const Case& c, const Step& step, const ProgramState& state) {
  const Value* value = argument(step, "target_lengths", 3);
  if (auto list = as_integers(c, value)) return list;
  const Name* name = as_name(value);
  const TensorSpec* tensor = name ? state.source(name->text) : nullptr;
  if (!tensor || is_floating(tensor->dtype) || readable_elements(c, *tensor) > kSearchLimit) return std::nullopt;
  std::vector<std::int64_t> out;
  for (const Number& value_of : contents(c, *tensor)) {
    out.push_back(std::get<std::int64_t>(stored(c, *tensor, value_of)));
  }
  return out;
}

std::optional<Number> as_number(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.v)) return *integer;
  if (const auto* real = std::get_if<double>(&value.v)) return *real;
  return std::nullopt;
}

void add_use(const Case& c, const Step& step, const ContractRow& row, const ProgramState& state, const Value& value,
             std::size_t position_in_list, std::vector<ContractUse>& uses) {
  const Name* name = as_name(&value);
  const TensorSpec* tensor = name ? state.source(name->text) : nullptr;
  const Dimensions* own = name ? state.shape(name->text) : nullptr;
  ContractUse use;
  use.row = &row;
  use.step = &step;
  if (tensor && own) {
    if (is_floating(tensor->dtype) && !takes_floats(row.rule)) return;
    if ((tensor->dtype == Dtype::boolean) != (row.rule == Rule::mask) && row.rule != Rule::nonzero) return;
    use.tensor = tensor;
    use.name = name->text;
    use.shape = *own;
  } else {
    use.number = as_number(value);
    if (!use.number) return;
  }
  if (touches_nothing(row, step, state)) return;
  if (row.rule == Rule::divisor) {
    const Name* other = as_name(argument(step, "self", 0));
    const TensorSpec* dividend = other ? state.source(other->text) : nullptr;
    if (!dividend || is_floating(dividend->dtype)) return;
  }
  const Name* data = row.of.empty() ? nullptr : as_name(argument(step, row.of, row.of_at));
  const bool number = row.size == Size::number;
  if (row.rule == Rule::coordinates) {
    const auto sizes = as_integers(c, argument(step, row.of, row.of_at));
    const std::int64_t rows = use.shape.size() == 2 ? use.shape[0] : 0;
    if (!sizes || rows < 1 || static_cast<std::size_t>(rows) > sizes->size()) return;
    use.sizes.assign(sizes->begin(), sizes->begin() + rows);
  } else if (row.size != Size::none) {
    const auto extent = extent_of(c, step, row, state, position_in_list, use.shape);
    if (!extent && row.rule != Rule::counts) return;
    if (extent) use.size = extent->size;
    if (extent) use.axis = extent->axis;
    if (data && !number) use.data = data->text;
  }
  if (row.rule == Rule::used_labels) {
    auto read = labels_read(c, step, state);
    if (!read) return;
    use.read = *std::move(read);
  }
  auto bounds = element_bounds(c, use);
  if (!bounds) return;
  if (row.op == "index_select" && state.is_sparse(use.data)) bounds->from = -bounds->to;  // counts from the end too
  use.bounds = *std::move(bounds);
  uses.push_back(std::move(use));
}

void add_uses(const Case& c, const Step& step, const ProgramState& state, std::vector<ContractUse>& uses) {
  for (const ContractRow* row : contract_rows(base_name(step.op))) {
    const Value* value = applies(*row, step) ? argument(step, row->argument, row->at) : nullptr;
    if (!value) continue;
    const List* list = std::get_if<List>(&value->v);
    if (!list) {
      add_use(c, step, *row, state, *value, 0, uses);
      continue;
    }
    // A mask takes as many axes as it has, so that what comes after it is at another axis.
    const auto is_plain = [&](const Value& each) {
      const Name* name = as_name(&each);
      if (!name) return std::holds_alternative<std::monostate>(each.v);
      const TensorSpec* tensor = state.source(name->text);
      return tensor && tensor->dtype != Dtype::boolean && tensor->dtype != Dtype::uint8;
    };
    if (row->rule == Rule::offsets && list->size() != 1) continue;  // nested ones bound each other
    for (std::size_t i = 0; i < list->size() && is_plain((*list)[i]); ++i) {
      add_use(c, step, *row, state, (*list)[i], i, uses);
    }
  }
}

}  // namespace

const std::vector<const ContractRow*>& contract_rows(std::string_view op) {
  static const auto kByOperator = [] {
    std::unordered_map<std::string_view, std::vector<const ContractRow*>> map;
    for (const ContractRow* row : contract_rows()) map[row->op].push_back(row);
    return map;
  }();
  static const std::vector<const ContractRow*> kNone;
  const auto found = kByOperator.find(op);
  return found == kByOperator.end() ? kNone : found->second;
}

std::vector<const ContractRow*> contract_rows() {
  std::vector<const ContractRow*> rows;
  for (const auto family : {loss_contracts(), indexing_contracts(), number_contracts(), sparse_contracts()}) {
    for (const ContractRow& row : family) rows.push_back(&row);
  }
  return rows;
}

std::vector<ContractUse> contract_uses(const Case& c) {
  std::vector<ContractUse> uses;
  ProgramState state(c);
  for (const Step& step : c.steps) {
    add_uses(c, step, state, uses);
    state.pass(step);
  }
  return uses;
}

std::vector<ContractUse> contract_uses(const Case& c, const Step& step) {
  std::vector<ContractUse> uses = contract_uses(c);
  std::erase_if(uses, [&](const ContractUse& use) { return use.step != &step; });
  return uses;
}

std::optional<Bounds> contract_bounds(const Case& c, std::string_view tensor) {
  for (ContractUse& use : contract_uses(c)) {
    if (use.tensor && use.tensor->name == tensor) return std::move(use.bounds);
  }
  return std::nullopt;
}

std::string rule_text(const ContractUse& use) {
  const std::string word(use.row->word);
  switch (use.row->rule) {
    case Rule::position:
      if (use.bounds.from < 0) return "not in [-" + word + ", " + word + ")";
      [[fallthrough]];
    case Rule::label:
    case Rule::padded:
    case Rule::coordinates:
    case Rule::used_labels: return "not in [0, " + word + ")";
    case Rule::wrapping: return "not in [-" + word + ", " + word + ")";
    case Rule::ended_labels: return "not in [-1, " + word + ")";
    case Rule::one_based: return "not in [1, " + word + "]";
    case Rule::up_to:
    case Rule::lengths:
    case Rule::offsets:
    case Rule::ends:
    case Rule::starts: return "not in [0, " + word + "]";
    case Rule::counts: return use.size ? "not in [0, " + word + "]" : "not >= 0";
    case Rule::between: return "not in [" + word + "]";
    case Rule::probability: return "not in [0, 1]";
    case Rule::not_negative: return "not >= 0";
    case Rule::rate:
    case Rule::weights: return "not finite and >= 0";
    case Rule::positive: return "not > 0";
    case Rule::finite: return "not finite";
    case Rule::nonzero:
    case Rule::divisor: return "is 0";
    case Rule::mask: return "more true elements than " + word;
  }
  std::unreachable();
}

}  // namespace dsafuzz
