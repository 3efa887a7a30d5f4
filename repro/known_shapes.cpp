#include "repro/known_shapes.h"

#include <algorithm>
#include <array>
#include <optional>

#include "repro/step_argument.h"

namespace dsafuzz {
namespace {

// Results that hold their first argument's elements, in order or rearranged.
constexpr std::array<std::string_view, 17> kSameElements{
    "to",        "_to_copy",  "clone", "contiguous", "detach", "flatten", "reshape", "view", "squeeze",
    "unsqueeze", "transpose", "t",     "permute",    "sort",   "flip",    "alias",   "ravel"};
// Those with the shape of their first argument.
constexpr std::array<std::string_view, 37> kSameShape{
    "to",         "_to_copy",  "clone",       "contiguous",   "detach",     "alias",      "relu",       "sigmoid",
    "tanh",       "gelu",      "silu",        "neg",          "exp",        "log",        "abs",        "sqrt",
    "softmax",    "_softmax",  "log_softmax", "_log_softmax", "dropout",    "layer_norm", "batch_norm", "sort",
    "flip",       "to_sparse", "to_dense",    "_coalesce",    "coalesce",   "cumsum",     "clamp",      "index_fill",
    "index_copy", "index_add", "scatter",     "scatter_add",  "masked_fill"};
constexpr std::array<std::string_view, 4> kBroadcast{"add", "sub", "mul", "div"};

template <std::size_t N>
bool among(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, name) != names.end();
}

using Shape = std::optional<Dimensions>;

Shape broadcast(const Dimensions& a, const Dimensions& b) {
  Dimensions out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

// The axis meant by a number that may count from the end; -1: none.
int axis_of(std::int64_t dim, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  return dim >= -count && dim < count ? static_cast<int>(dim < 0 ? dim + count : dim) : -1;
}

Shape flattened(const Case& c, const Step& step, const Dimensions& from) {
  const auto start = as_integer(c, argument(step, "start_dim", 1)), end = as_integer(c, argument(step, "end_dim", 2));
  const int first = axis_of(start.value_or(0), from.size()), last = axis_of(end.value_or(-1), from.size());
  if (first < 0 || last < first) return std::nullopt;
  Dimensions out(from.begin(), from.begin() + first);
  out.push_back(element_count({from.begin() + first, from.begin() + last + 1}));
  out.insert(out.end(), from.begin() + last + 1, from.end());
  return out;
}

Shape reshaped(const Case& c, const Step& step, const Dimensions& from) {
  Shape to = as_integers(c, argument(step, step.op.ends_with("view") ? "size" : "shape", 1));
  if (!to) return std::nullopt;
  std::int64_t rest = 1;
  std::int64_t* open = nullptr;
  for (std::int64_t& size : *to) {
    if (size >= 0) {
      rest *= size;
    } else if (open) {
      return std::nullopt;
    } else {
      open = &size;
    }
  }
  if (open && rest == 0) return std::nullopt;
  if (open) *open = element_count(from) / rest;
  return to;
}

Shape product(const Dimensions& a, const Dimensions& b) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  Shape out = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!out) return std::nullopt;
  out->push_back(a[a.size() - 2]);
  out->push_back(b.back());
  return out;
}

Shape convolved(const Case& c, const Step& step, const Dimensions& in, const Dimensions& weight) {
  if (in.size() != 4 || weight.size() != 4 || argument(step, "dilation", 5) || argument(step, "groups", 6)) return {};
  const auto pair = [&](std::string_view name, std::size_t at, std::int64_t usual) -> std::array<std::int64_t, 2> {
    const Value* value = argument(step, name, at);
    if (!value) return {usual, usual};
    if (const auto one = as_integer(c, value)) return {*one, *one};
    const auto list = as_integers(c, value);
    if (!list || list->empty() || list->size() > 2) return {-1, -1};
    return {list->front(), list->back()};
  };
  const auto stride = pair("stride", 3, 1), padding = pair("padding", 4, 0);
  Dimensions out{in[0], weight[0]};
  for (std::size_t i = 0; i < 2; ++i) {
    if (stride[i] < 1 || padding[i] < 0) return std::nullopt;
    const std::int64_t room = in[2 + i] + 2 * padding[i] - weight[2 + i];
    if (room < 0) return std::nullopt;
    out.push_back(room / stride[i] + 1);
  }
  return out;
}

// A cast keeps integers as they are only if it goes to int64.
bool changes_values(const Step& step) {
  return std::ranges::any_of(step.arguments, [](const Argument& each) {
    const Name* name = as_name(&each.value);
    const auto dtype = name ? parse_dtype(name->text) : std::nullopt;
    return dtype && *dtype != Dtype::int64;
  });
}

}  // namespace

ProgramState::ProgramState(const Case& c) : case_(c) {
  for (const TensorSpec& tensor : c.tensors) {
    Known known;
    known.source = &tensor;
    if (auto shape = concrete_shape(tensor, c.shapes)) {
      known.shaped = true;
      known.shape = *std::move(shape);
    }
    known_.emplace(tensor.name, std::move(known));
  }
}

const ProgramState::Known* ProgramState::find(std::string_view name) const {
  const auto found = known_.find(name);
  return found == known_.end() ? nullptr : &found->second;
}

const Dimensions* ProgramState::shape(std::string_view name) const {
  const Known* known = find(name);
  return known && known->shaped ? &known->shape : nullptr;
}

const TensorSpec* ProgramState::source(std::string_view name) const {
  const Known* known = find(name);
  return known ? known->source : nullptr;
}

bool ProgramState::is_sparse(std::string_view name) const {
  const Known* known = find(name);
  return known && known->sparse;
}

ProgramState::Known ProgramState::result_of(const Step& step) const {
  const std::string_view op = base_name(step.op);
  const auto at = [&](std::size_t position) -> const Known* {
    const Name* name = position < step.arguments.size() ? as_name(&step.arguments[position].value) : nullptr;
    return name ? find(name->text) : nullptr;
  };
  const Known* first = at(0);
  Known out;
  out.sparse = op == "to_sparse" || op.starts_with("sparse_") || op.starts_with("_sparse_") ||
               (first && first->sparse && op != "to_dense");
  const auto take = [&](Shape shape) {
    out.shaped = shape.has_value();
    if (shape) out.shape = *std::move(shape);
  };
  if (op == "zeros" || op == "ones" || op == "empty" || op == "full" || op == "randn" || op == "rand") {
    take(as_integers(case_, argument(step, "size", 0)));
  } else if (op == "sparse_coo_tensor" || op == "_sparse_coo_tensor_unsafe") {
    take(as_integers(case_, argument(step, "size", 2)));
  }
  if (!first) return out;
  if (among(op, kSameElements) && !changes_values(step)) out.source = first->source;
  if (!first->shaped) return out;
  const Dimensions& shape = first->shape;
  const Dimensions* second = at(1) && at(1)->shaped ? &at(1)->shape : nullptr;
  if (among(op, kSameShape)) {
    take(shape);
  } else if (among(op, kBroadcast)) {
    take(second ? broadcast(shape, *second) : at(1) ? Shape() : Shape(shape));
  } else if (op == "linear" && second && !shape.empty() && second->size() == 2) {
    take(shape);
    out.shape.back() = (*second)[0];
  } else if ((op == "mm" || op == "bmm" || op == "matmul") && second) {
    take(product(shape, *second));
  } else if (op == "conv2d" && second) {
    take(convolved(case_, step, shape, *second));
  } else if (op == "flatten") {
    take(flattened(case_, step, shape));
  } else if (op == "reshape" || op == "view") {
    take(reshaped(case_, step, shape));
  } else if (op == "narrow") {
    const auto dim = as_integer(case_, argument(step, "dim", 1)),
               length = as_integer(case_, argument(step, "length", 3));
    const int axis = dim ? axis_of(*dim, shape.size()) : -1;
    if (axis < 0 || !length || *length < 0) return out;
    take(shape);
    out.shape[static_cast<std::size_t>(axis)] = *length;
  } else if (op == "unsqueeze") {
    const int axis = axis_of(as_integer(case_, argument(step, "dim", 1)).value_or(0), shape.size() + 1);
    if (axis < 0) return out;
    take(shape);
    out.shape.insert(out.shape.begin() + axis, 1);
  } else if (op == "transpose") {
    const auto a = as_integer(case_, argument(step, "dim0", 1)), b = as_integer(case_, argument(step, "dim1", 2));
    const int x = a ? axis_of(*a, shape.size()) : -1, y = b ? axis_of(*b, shape.size()) : -1;
    if (x < 0 || y < 0) return out;
    take(shape);
    std::swap(out.shape[static_cast<std::size_t>(x)], out.shape[static_cast<std::size_t>(y)]);
  } else if (op == "t" && shape.size() == 2) {
    take(Dimensions{shape[1], shape[0]});
  } else if (op == "embedding" && second && !shape.empty()) {
    take(*second);
    out.shape.insert(out.shape.end(), shape.begin() + 1, shape.end());
  } else if (op == "gather") {
    const Name* index = as_name(argument(step, "index", 2));
    const Dimensions* as_index = index ? this->shape(index->text) : nullptr;
    if (as_index) take(*as_index);
  } else if (op == "index_select" && !shape.empty()) {
    const Name* index = as_name(argument(step, "index", 2));
    const Dimensions* picked = index ? this->shape(index->text) : nullptr;
    const auto dim = as_integer(case_, argument(step, "dim", 1));
    const int axis = dim ? axis_of(*dim, shape.size()) : -1;
    if (!picked || axis < 0) return out;
    take(shape);
    out.shape[static_cast<std::size_t>(axis)] = element_count(*picked);
  }
  return out;
}

void ProgramState::pass(const Step& step) {
  Known result = result_of(step);
  if (writes_in_place(step.op) && !step.arguments.empty()) {
    // Whatever shares the elements is not what the case says any more.
    const Name* target = as_name(&step.arguments[0].value);
    const Known* written = target ? find(target->text) : nullptr;
    if (const TensorSpec* source = written ? written->source : nullptr) {
      for (auto& [name, known] : known_) {
        if (known.source == source) known.source = nullptr;
      }
    }
    result.source = nullptr;
  }
  for (std::size_t i = 0; i < step.results.size(); ++i) {
    known_[step.results[i]] = i == 0 ? result : Known{};
  }
}

ProgramState state_before(const Case& c, const Step& step) {
  ProgramState state(c);
  for (const Step& each : c.steps) {
    if (&each == &step) break;
    state.pass(each);
  }
  return state;
}

std::map<std::string, Dimensions> known_shapes(const Case& c) {
  ProgramState state(c);
  for (const Step& step : c.steps) state.pass(step);
  std::map<std::string, Dimensions> shapes;
  const auto add = [&](const std::string& name) {
    if (const Dimensions* shape = state.shape(name)) shapes[name] = *shape;
  };
  for (const TensorSpec& tensor : c.tensors) add(tensor.name);
  for (const Step& step : c.steps) std::ranges::for_each(step.results, add);
  return shapes;
}

}  // namespace dsafuzz
