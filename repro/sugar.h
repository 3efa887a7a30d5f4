// Common layers and losses in a scenario's words, expanded to tensors and ATen steps. For the scenario reader, and
// operators that people name in other places.
#pragma once

#include <string>
#include <vector>

#include "repro/case.h"
#include "repro/yaml_document.h"

namespace dsafuzz {

// One layer of `model:`, as parameters and a step without its input and result.
struct Layer {
  std::vector<TensorSpec> parameters;
  Step step;  // its first argument, the input, is to be put in front
};

// `linear: {in: features, out: classes}` as the number-th layer, or a problem that lists the layers known.
Result<Layer> read_layer(const YamlDocument& document, const YAML::Node& node, int number);

// `cross_entropy` -> `aten::cross_entropy_loss`; a name with `::` or `module:` stands for itself. Empty: unknown.
std::string expand_operator(const std::string& name);
std::string known_operators();  // for messages

}  // namespace dsafuzz
