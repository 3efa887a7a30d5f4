#include "repro/sugar.h"

#include <algorithm>
#include <array>

#include "repro/case_text.h"

namespace dsafuzz {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kOperators{{
    {"cross_entropy", "aten::cross_entropy_loss"},
    {"nll_loss", "aten::nll_loss_nd"},
    {"mse_loss", "aten::mse_loss"},
    {"l1_loss", "aten::l1_loss"},
    {"smooth_l1_loss", "aten::smooth_l1_loss"},
    {"huber_loss", "aten::huber_loss"},
    {"kl_div", "aten::kl_div"},
    {"binary_cross_entropy", "aten::binary_cross_entropy"},
    {"binary_cross_entropy_with_logits", "aten::binary_cross_entropy_with_logits"},
    {"multi_margin_loss", "aten::multi_margin_loss"},
    {"multilabel_margin_loss", "aten::multilabel_margin_loss"},
    {"ctc_loss", "aten::ctc_loss.IntList"},
    {"embedding", "aten::embedding"},
    {"index_select", "aten::index_select"},
}};

// Layers that are one operator with nothing but its input, or one attribute.
struct PlainLayer {
  std::string_view name, op, attribute;  // attribute: a key of the layer and the operator's argument; may be empty
};
constexpr std::array<PlainLayer, 8> kPlainLayers{{
    {"relu", "aten::relu", ""},
    {"gelu", "aten::gelu", ""},
    {"tanh", "aten::tanh", ""},
    {"sigmoid", "aten::sigmoid", ""},
    {"silu", "aten::silu", ""},
    {"flatten", "aten::flatten.using_ints", "start_dim"},
    {"softmax", "aten::softmax.int", "dim"},
    {"log_softmax", "aten::log_softmax.int", "dim"},
}};

TensorSpec weight(int layer, const std::string& name, std::vector<Extent> shape, double bound) {
  TensorSpec t;
  t.name = "model." + std::to_string(layer) + "." + name;
  t.shape = std::move(shape);
  t.fill.kind = Fill::Kind::uniform;
  t.fill.low = -bound;
  t.fill.high = bound;
  t.parameter = true;
  return t;
}

TensorSpec ones(int layer, const std::string& name, const Extent& size, std::int64_t value) {
  TensorSpec t = weight(layer, name, {size}, 0);
  t.fill = Fill{};
  t.fill.constant = value;
  return t;
}

Argument positional(const std::string& name) { return {"", Value{Name{name}}}; }
Argument named(const std::string& name, Value value) { return {name, std::move(value)}; }

}  // namespace

Result<Layer> read_layer(const YamlDocument& document, const YAML::Node& node, int number) {
  std::string kind;
  std::vector<YamlDocument::Entry> options;
  static const std::vector<std::string_view> kOptions{"in",      "out",   "bias",  "kernel", "stride",
                                                      "padding", "count", "width", "dim",    "start_dim"};
  if (node.IsScalar()) {
    kind = node.Scalar();
  } else {
    const auto entries = DSAFUZZ_TRY(document.entries(node, "a layer"));
    if (entries.size() != 1)
      return document.problem(node, "a layer has one name", "- linear: {in: features, out: classes}");
    kind = entries[0].key;
    if (!entries[0].value.IsNull())
      options = DSAFUZZ_TRY(document.entries(entries[0].value, "layer '" + kind + "'", kOptions));
  }
  std::vector<std::string> used;
  const auto find = [&](const std::string& key) -> const YamlDocument::Entry* {
    used.push_back(key);
    const auto found = std::ranges::find(options, key, &YamlDocument::Entry::key);
    return found == options.end() ? nullptr : &*found;
  };
  const auto size = [&](const std::string& key) -> Result<Extent> {
    const auto* entry = find(key);
    if (!entry)
      return document.problem(node, "layer '" + kind + "' needs '" + key + "'", kind + ": {" + key + ": SIZE, ...}");
    return document.extent(entry->value, "'" + key + "'");
  };
  const auto integer = [&](const std::string& key, std::int64_t otherwise) -> Result<std::int64_t> {
    const auto* entry = find(key);
    if (!entry) return otherwise;
    return document.integer(entry->value, "'" + key + "'", -8, 1024);
  };
  const auto parameter = [&](Layer& layer, TensorSpec tensor) {
    layer.step.arguments.push_back(positional(tensor.name));
    layer.parameters.push_back(std::move(tensor));
  };

  Layer layer;
  bool has_bias = true;
  if (kind == "linear" || kind == "conv2d") {
    if (const auto* bias = find("bias")) has_bias = DSAFUZZ_TRY(document.boolean(bias->value, "bias"));
  }
  if (kind == "linear") {
    const Extent in = DSAFUZZ_TRY(size("in")), out = DSAFUZZ_TRY(size("out"));
    layer.step.op = "aten::linear";
    // Small weights keep logits finite in half precision whatever the width is.
    parameter(layer, weight(number, "weight", {out, in}, 0.25));
    if (has_bias) parameter(layer, weight(number, "bias", {out}, 0.25));
  } else if (kind == "conv2d") {
    const Extent in = DSAFUZZ_TRY(size("in")), out = DSAFUZZ_TRY(size("out")), kernel = DSAFUZZ_TRY(size("kernel"));
    layer.step.op = "aten::conv2d";
    parameter(layer, weight(number, "weight", {out, in, kernel, kernel}, 0.25));
    if (has_bias) parameter(layer, weight(number, "bias", {out}, 0.25));
    const std::int64_t stride = DSAFUZZ_TRY(integer("stride", 1)), padding = DSAFUZZ_TRY(integer("padding", 0));
    layer.step.arguments.push_back(named("stride", Value{List{Value{stride}, Value{stride}}}));
    layer.step.arguments.push_back(named("padding", Value{List{Value{padding}, Value{padding}}}));
  } else if (kind == "embedding") {
    const Extent count = DSAFUZZ_TRY(size("count")), width = DSAFUZZ_TRY(size("width"));
    layer.step.op = "aten::embedding";
    layer.parameters.push_back(weight(number, "weight", {count, width}, 1));
    layer.step.arguments.push_back(named("weight", Value{Name{layer.parameters[0].name}}));
  } else if (kind == "layer_norm") {
    const Extent width = DSAFUZZ_TRY(size("width"));
    // The size is an argument of the step, too, and arguments hold numbers and names, not sums.
    const auto value = parse_step("f(" + width.text + ")");
    if (!value) {
      return document.problem(node, "layer_norm's width is '" + width.text + "'", "a number or one shape variable");
    }
    layer.step.op = "aten::layer_norm";
    layer.step.arguments.push_back(named("normalized_shape", Value{List{value->arguments[0].value}}));
    layer.parameters = {ones(number, "weight", width, 1), ones(number, "bias", width, 0)};
    layer.step.arguments.push_back(named("weight", Value{Name{layer.parameters[0].name}}));
    layer.step.arguments.push_back(named("bias", Value{Name{layer.parameters[1].name}}));
  } else {
    const auto* plain = std::ranges::find(kPlainLayers, kind, &PlainLayer::name);
    if (plain == kPlainLayers.end()) {
      std::string known = "linear, conv2d, embedding, layer_norm";
      for (const PlainLayer& p : kPlainLayers) known += ", " + std::string(p.name);
      return document.problem(node, "'" + kind + "' is not a layer", "known: " + known + "; anything else is a step");
    }
    layer.step.op = plain->op;
    if (!plain->attribute.empty()) {
      const std::string key(plain->attribute);
      const std::int64_t otherwise = key == "dim" ? -1 : 1;
      layer.step.arguments.push_back(named(key, Value{DSAFUZZ_TRY(integer(key, otherwise))}));
    }
  }
  for (const auto& option : options) {
    if (std::ranges::find(used, option.key) == used.end())
      return document.problem(option.key_node, "layer '" + kind + "' has no '" + option.key + "'");
  }
  return layer;
}

std::string expand_operator(const std::string& name) {
  if (name.find("::") != std::string::npos || name.starts_with("module:")) return name;
  const auto* found = std::ranges::find(kOperators, name, &std::pair<std::string_view, std::string_view>::first);
  return found == kOperators.end() ? std::string() : std::string(found->second);
}

std::string known_operators() {
  std::string out = "any aten:: or dsafuzz:: operator, model, module:FILE";
  for (const auto& [name, op] : kOperators) out += ", " + std::string(name);
  return out;
}

}  // namespace dsafuzz
