// Tensors as YAML, shared by case files and scenarios. Private to repro's readers.
#pragma once

#include <string>

#include "repro/case.h"
#include "repro/yaml_document.h"

namespace dsafuzz {

// The keys a tensor may have in every file; scenarios allow some more.
inline const std::vector<std::string_view> kTensorKeys{"shape",  "dtype",     "fill",  "set",
                                                       "layout", "parameter", "device"};

// Reads those keys and leaves others to the caller, who has checked them.
Result<TensorSpec> read_tensor(const YamlDocument& document, const std::string& name, const YAML::Node& node,
                               const std::vector<std::string_view>& allowed);
std::string tensor_to_yaml(const TensorSpec& tensor);  // "{shape: [batch], dtype: int64, fill: [1]}"

Result<std::uint64_t> read_seed(const YamlDocument& document, const YAML::Node& node);
Result<std::vector<Step>> read_steps(const YamlDocument& document, const YAML::Node& node);

}  // namespace dsafuzz
