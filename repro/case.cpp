#include "repro/case.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "repro/case_text.h"

namespace dsafuzz {
namespace {

bool same(double a, double b) {
  // NaN is one value here, and -0.0 is not 0.0: cases are compared as texts would be.
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

// [A-Za-z_][A-Za-z0-9_.]*, at most 64 characters.
bool is_tensor_name(std::string_view name) {
  if (name.empty() || name.size() > 64) return false;
  if (!std::isalpha(static_cast<unsigned char>(name[0])) && name[0] != '_') return false;
  return std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; });
}

bool is_scenario_name(std::string_view name) {
  if (name.empty() || name.size() > 64 || !std::islower(static_cast<unsigned char>(name[0]))) return false;
  return std::ranges::all_of(name, [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '_'; });
}

// `aten::add`, `aten::add.Tensor`, `dsafuzz::scale`, or `module:FILE` with FILE beside the case.
Result<void> check_operator(const std::string& op) {
  if (op.starts_with("module:")) {
    const std::string file = op.substr(7);
    const bool plain =
        file.size() > 3 && file.size() <= 200 && file[0] != '.' && file.ends_with(".pt") &&
        std::ranges::all_of(file, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.'; });
    if (plain) return {};
    return input_problem("'" + op + "' does not name a module file", {},
                         "a plain file name beside the case, like module:net.pt");
  }
  const std::size_t colons = op.find("::");
  const bool known = colons != std::string::npos && (op.starts_with("aten::") || op.starts_with("dsafuzz::"));
  if (known && op.size() <= 128 && is_tensor_name(std::string_view(op).substr(colons + 2))) return {};
  return input_problem("'" + op + "' is not an operator", {},
                       "write aten::NAME, dsafuzz::NAME, either with .OVERLOAD, or module:FILE");
}

Result<void> check_value(const Value& value, int depth) {
  if (depth > 8) return input_problem("lists are nested too deeply");
  if (const auto* list = std::get_if<List>(&value.v)) {
    if (list->size() > 4096) return input_problem("a list of " + std::to_string(list->size()) + " values is too long");
    for (const Value& item : *list) {
      if (auto ok = check_value(item, depth + 1); !ok) return ok;
    }
  }
  return {};
}

}  // namespace

bool number_equal(const Number& a, const Number& b) {
  if (a.index() != b.index()) return false;
  if (const auto* integer = std::get_if<std::int64_t>(&a)) return *integer == std::get<std::int64_t>(b);
  return same(std::get<double>(a), std::get<double>(b));
}

double as_double(const Number& n) {
  return std::visit([](auto v) { return static_cast<double>(v); }, n);
}

bool operator==(const Fill& a, const Fill& b) {
  return a.kind == b.kind && number_equal(a.constant, b.constant) && same(a.low, b.low) && same(a.high, b.high) &&
         a.from == b.from && a.to == b.to && std::ranges::equal(a.literal, b.literal, number_equal);
}

bool operator==(const TensorSpec& a, const TensorSpec& b) {
  return a.name == b.name && a.shape == b.shape && a.dtype == b.dtype && a.fill == b.fill && a.layout == b.layout &&
         a.parameter == b.parameter && a.device == b.device &&
         std::ranges::equal(a.set, b.set, [](const auto& x, const auto& y) {
           return x.first == y.first && number_equal(x.second, y.second);
         });
}

bool operator==(const Value& a, const Value& b) {
  if (const auto* x = std::get_if<double>(&a.v)) {
    const auto* y = std::get_if<double>(&b.v);
    return y && same(*x, *y);
  }
  return a.v == b.v;
}

const TensorSpec* Case::find_tensor(std::string_view name) const {
  const auto found = std::ranges::find(tensors, name, &TensorSpec::name);
  return found == tensors.end() ? nullptr : &*found;
}

TensorSpec* Case::find_tensor(std::string_view name) {
  return const_cast<TensorSpec*>(std::as_const(*this).find_tensor(name));
}

std::string case_id(const Case& c) {
  const std::string text = to_yaml(c);
  static constexpr char kHex[] = "0123456789abcdef";
  std::uint64_t hash = XXH3_64bits(text.data(), text.size());
  std::string out(16, '0');
  for (int i = 15; i >= 0; --i, hash >>= 4) out[i] = kHex[hash & 15];
  return out;
}

Result<std::vector<std::int64_t>> concrete_shape(const TensorSpec& tensor, const Shapes& shapes) {
  std::vector<std::int64_t> out;
  std::int64_t count = 1;
  for (const Extent& extent : tensor.shape) {
    const Result<std::int64_t> size = evaluate(extent, shapes);
    if (!size) return std::unexpected(size.error());
    if (*size < 0) {
      return input_problem("tensor '" + tensor.name + "' would have an axis of size " + std::to_string(*size) + " (" +
                           extent.text + ")");
    }
    out.push_back(*size);
    // The product of the non-zero sizes is bounded too: strides are computed from it.
    if (*size > 0 && (__builtin_mul_overflow(count, *size, &count) || count > kElementLimit)) {
      return input_problem("tensor '" + tensor.name + "' would have more than " + std::to_string(kElementLimit) +
                           " elements");
    }
  }
  return out;
}

std::int64_t element_count(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

std::int64_t element_count(const Case& c) {
  std::int64_t total = 0;
  for (const TensorSpec& tensor : c.tensors) {
    if (const auto shape = concrete_shape(tensor, c.shapes)) total += element_count(*shape);
  }
  return total;
}

Result<void> validate(const Case& c) {
  if (!is_scenario_name(c.scenario)) {
    return input_problem("'" + c.scenario + "' is not a scenario name", {},
                         "lower-case letters, digits and _, starting with a letter");
  }
  if (c.seed > INT64_MAX)
    return input_problem("seed " + std::to_string(c.seed) + " is too large", {}, "at most 2^63 - 1");
  if (c.tensors.size() > 256)
    return input_problem(std::to_string(c.tensors.size()) + " tensors are too many", {}, "at most 256");
  if (c.steps.size() > 1024)
    return input_problem(std::to_string(c.steps.size()) + " steps are too many", {}, "at most 1024");
  if (c.shapes.size() > 64)
    return input_problem(std::to_string(c.shapes.size()) + " shape variables are too many", {}, "at most 64");
  std::set<std::string> known;
  for (const auto& [name, value] : c.shapes) {
    if (!is_tensor_name(name) || name.find('.') != std::string::npos)
      return input_problem("'" + name + "' is not a name for a shape variable");
    if (value < 0) return input_problem("shape variable '" + name + "' is " + std::to_string(value), {}, "0 or more");
    known.insert(name);
  }
  std::int64_t total = 0;
  for (const TensorSpec& t : c.tensors) {
    if (!is_tensor_name(t.name))
      return input_problem("'" + t.name + "' is not a tensor name", {}, "letters, digits, _ and .");
    if (!known.insert(t.name).second) return input_problem("'" + t.name + "' is declared twice");
    if (t.shape.size() > 8)
      return input_problem("tensor '" + t.name + "' has " + std::to_string(t.shape.size()) + " axes", {}, "at most 8");
    const auto shape = concrete_shape(t, c.shapes);
    if (!shape) return std::unexpected(shape.error());
    total += element_count(*shape);
    if (total > kElementLimit)
      return input_problem("the tensors together have more than " + std::to_string(kElementLimit) + " elements");
    if (t.fill.kind == Fill::Kind::literal && t.fill.literal.empty())
      return input_problem("tensor '" + t.name + "' has an empty list of values");
    if (t.fill.kind == Fill::Kind::literal && element_count(*shape) > kListedElementLimit)
      return input_problem("tensor '" + t.name + "' repeats a list of values over more than " +
                               std::to_string(kListedElementLimit) + " elements",
                           {}, "a constant, arange or random fill has no such limit");
    if (t.fill.kind == Fill::Kind::randint) {
      const auto from = evaluate(t.fill.from, c.shapes), to = evaluate(t.fill.to, c.shapes);
      if (!from) return std::unexpected(from.error());
      if (!to) return std::unexpected(to.error());
    }
    if (!t.set.empty() && t.set.begin()->first < 0) {
      return input_problem("tensor '" + t.name + "' sets element " + std::to_string(t.set.begin()->first), {}, "0 or more");
    }
    if (t.device < 0 || t.device > 15)
      return input_problem("tensor '" + t.name + "' is on device " + std::to_string(t.device), {}, "0 to 15");
  }
  if (c.steps.empty()) return input_problem("the case has no steps");
  for (const Step& step : c.steps) {
    if (auto ok = check_operator(step.op); !ok) return ok;
    if (step.arguments.size() > 64) return input_problem("'" + step.op + "' has too many arguments");
    for (const Argument& a : step.arguments) {
      if (auto ok = check_value(a.value, 0); !ok) return ok;
    }
    for (const std::string& result : step.results) {
      if (!is_tensor_name(result)) return input_problem("'" + result + "' is not a name for a result");
      if (c.shapes.contains(result)) return input_problem("result '" + result + "' has the name of a shape variable");
      known.insert(result);
    }
  }
  return {};
}

}  // namespace dsafuzz
