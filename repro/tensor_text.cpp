#include "repro/tensor_text.h"

#include <limits>

#include "repro/case_text.h"

namespace dsafuzz {
namespace {

// A member of a closed set by its name, or a problem that lists the names.
template <typename T, std::size_t N>
Result<T> read_member(const YamlDocument& document, const YAML::Node& node, const std::string& what,
                      const std::array<T, N>& all, std::optional<T> (*parse)(std::string_view)) {
  const std::string word = DSAFUZZ_TRY(document.text(node, what));
  if (const auto member = parse(word)) return *member;
  std::string names;
  for (const T m : all) names += (names.empty() ? "" : ", ") + std::string(to_text(m));
  return document.problem(node, "'" + word + "' is not " + what, "one of " + names);
}

Result<std::vector<Number>> read_numbers(const YamlDocument& document, const YAML::Node& node,
                                         const std::string& what) {
  std::vector<Number> out;
  for (const YAML::Node& item : DSAFUZZ_TRY(document.items(node, what)))
    out.push_back(DSAFUZZ_TRY(document.number(item, what)));
  return out;
}

Result<Fill> read_fill(const YamlDocument& document, const YAML::Node& node) {
  static const std::string kRemedy =
      "a number, a list of numbers, arange, randn, {uniform: [low, high]} or {randint: [from, to]}";
  Fill fill;
  if (node.IsSequence()) {
    fill.kind = Fill::Kind::literal;
    fill.literal = DSAFUZZ_TRY(read_numbers(document, node, "the fill"));
    if (fill.literal.empty()) return document.problem(node, "the fill is an empty list", kRemedy);
  } else if (node.IsMap()) {
    const auto entries = DSAFUZZ_TRY(document.entries(node, "a fill", {"uniform", "randint"}));
    if (entries.size() != 1) return document.problem(node, "a fill has one kind", kRemedy);
    const auto bounds = DSAFUZZ_TRY(document.items(entries[0].value, "the fill's bounds"));
    if (bounds.size() != 2)
      return document.problem(entries[0].value, "the fill has two bounds", "[from, to), like [0, classes]");
    if (entries[0].key == "uniform") {
      fill.kind = Fill::Kind::uniform;
      fill.low = as_double(DSAFUZZ_TRY(document.number(bounds[0], "a bound")));
      fill.high = as_double(DSAFUZZ_TRY(document.number(bounds[1], "a bound")));
    } else {
      fill.kind = Fill::Kind::randint;
      fill.from = DSAFUZZ_TRY(document.extent(bounds[0], "a bound"));
      fill.to = DSAFUZZ_TRY(document.extent(bounds[1], "a bound"));
    }
  } else {
    const std::string word = DSAFUZZ_TRY(document.text(node, "the fill"));
    if (word == "arange") {
      fill.kind = Fill::Kind::arange;
    } else if (word == "randn") {
      fill.kind = Fill::Kind::randn;
    } else if (const auto number = parse_number(word)) {
      fill.constant = *number;
    } else {
      return document.problem(node, "'" + word + "' is not a fill", kRemedy);
    }
  }
  return fill;
}

std::string fill_to_yaml(const Fill& fill) {
  switch (fill.kind) {
    case Fill::Kind::constant: return to_text(fill.constant);
    case Fill::Kind::arange: return "arange";
    case Fill::Kind::randn: return "randn";
    case Fill::Kind::uniform:
      return "{uniform: [" + to_text(Number{fill.low}) + ", " + to_text(Number{fill.high}) + "]}";
    case Fill::Kind::randint: return "{randint: [" + fill.from.text + ", " + fill.to.text + "]}";
    case Fill::Kind::literal: {
      std::string out = "[";
      for (const Number& n : fill.literal) out += (out.size() > 1 ? ", " : "") + to_text(n);
      return out + "]";
    }
  }
  std::unreachable();
}

// Integer tensors hold integers: a fractional number in one would be rounded in silence.
Result<void> check_numbers(const YamlDocument& document, const YAML::Node& node, const TensorSpec& tensor) {
  if (is_floating(tensor.dtype)) return {};
  const auto whole = [](const Number& n) { return std::holds_alternative<std::int64_t>(n); };
  bool ok = tensor.fill.kind != Fill::Kind::constant || whole(tensor.fill.constant);
  for (const Number& n : tensor.fill.literal) ok = ok && whole(n);
  for (const auto& [index, n] : tensor.set) ok = ok && whole(n);
  ok = ok && tensor.fill.kind != Fill::Kind::randn && tensor.fill.kind != Fill::Kind::uniform;
  if (ok) return {};
  return document.problem(
      node, "tensor '" + tensor.name + "' of " + std::string(to_text(tensor.dtype)) + " holds fractional values",
      "whole numbers, arange or {randint: [from, to]}, or a floating dtype");
}

}  // namespace

Result<TensorSpec> read_tensor(const YamlDocument& document, const std::string& name, const YAML::Node& node,
                               const std::vector<std::string_view>& allowed) {
  TensorSpec tensor;
  tensor.name = name;
  bool has_shape = false;
  for (const auto& [key, key_node, value] : DSAFUZZ_TRY(document.entries(node, "tensor '" + name + "'", allowed))) {
    if (key == "shape") {
      has_shape = true;
      for (const YAML::Node& axis : DSAFUZZ_TRY(document.items(value, "the shape"))) {
        tensor.shape.push_back(DSAFUZZ_TRY(document.extent(axis, "an axis")));
      }
    } else if (key == "dtype") {
      tensor.dtype = DSAFUZZ_TRY(read_member(document, value, "a dtype", kDtypes, parse_dtype));
    } else if (key == "fill") {
      tensor.fill = DSAFUZZ_TRY(read_fill(document, value));
    } else if (key == "set") {
      for (const auto& [index, index_node, number] : DSAFUZZ_TRY(document.entries(value, "set"))) {
        const auto at = DSAFUZZ_TRY(document.integer(index_node, "an element's index", 0, kElementLimit));
        tensor.set[at] = DSAFUZZ_TRY(document.number(number, "an element's value"));
      }
    } else if (key == "layout") {
      tensor.layout = DSAFUZZ_TRY(read_member(document, value, "a layout", kLayouts, parse_layout));
    } else if (key == "parameter") {
      tensor.parameter = DSAFUZZ_TRY(document.boolean(value, "parameter"));
    } else if (key == "device") {
      tensor.device = static_cast<int>(DSAFUZZ_TRY(document.integer(value, "the device", 0, 15)));
    }
  }
  if (!has_shape)
    return document.problem(node, "tensor '" + name + "' has no shape", "shape: [batch, features]; [] for a scalar");
  DSAFUZZ_CHECK(check_numbers(document, node, tensor));
  return tensor;
}

std::string tensor_to_yaml(const TensorSpec& tensor) {
  std::string out = "{shape: [";
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) out += (i ? ", " : "") + tensor.shape[i].text;
  out += "], dtype: " + std::string(to_text(tensor.dtype)) + ", fill: " + fill_to_yaml(tensor.fill);
  if (!tensor.set.empty()) {
    out += ", set: {";
    bool first = true;
    for (const auto& [index, number] : tensor.set) {
      out += (first ? "" : ", ") + std::to_string(index) + ": " + to_text(number);
      first = false;
    }
    out += "}";
  }
  if (tensor.layout != Layout::contiguous) out += ", layout: " + std::string(to_text(tensor.layout));
  if (tensor.parameter) out += ", parameter: true";
  if (tensor.device != 0) out += ", device: " + std::to_string(tensor.device);
  return out + "}";
}

Result<std::uint64_t> read_seed(const YamlDocument& document, const YAML::Node& node) {
  return static_cast<std::uint64_t>(
      DSAFUZZ_TRY(document.integer(node, "the seed", 0, std::numeric_limits<std::int64_t>::max())));
}

Result<std::vector<Step>> read_steps(const YamlDocument& document, const YAML::Node& node) {
  std::vector<Step> out;
  for (const YAML::Node& line : DSAFUZZ_TRY(document.items(node, "steps"))) {
    if (line.IsMap()) {
      return document.problem(line, "this step is a YAML mapping",
                              "write name=value instead of name: value, or quote the line");
    }
    const std::string text = DSAFUZZ_TRY(document.text(line, "a step"));
    out.push_back(DSAFUZZ_TRY(document.placed(line, parse_step(text))));
  }
  return out;
}

}  // namespace dsafuzz
