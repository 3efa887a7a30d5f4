#include "repro/neutral_names.h"

#include <map>

#include "repro/scan.h"

namespace dsafuzz {
namespace {

using Names = std::map<std::string, std::string>;

std::string renamed(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

// In an extent, words are names of sizes.
void rename_extent(const Names& sizes, Extent& extent) {
  std::string out;
  for (std::size_t at = 0; at < extent.text.size();) {
    std::size_t end = at;
    while (end < extent.text.size() && is_word(extent.text[end])) ++end;
    if (end == at) {
      out += extent.text[at++];
      continue;
    }
    out += renamed(sizes, extent.text.substr(at, end - at));
    at = end;
  }
  extent.text = std::move(out);
}

void rename_value(const Names& names, Value& value) {
  if (auto* name = std::get_if<Name>(&value.v)) name->text = renamed(names, name->text);
  if (auto* list = std::get_if<List>(&value.v)) {
    for (Value& item : *list) rename_value(names, item);
  }
}

}  // namespace

Case with_neutral_names(const Case& c) {
  Case out = c;
  Names sizes, names;
  const auto give = [](Names& to, const std::string& name, char kind, std::size_t& count) {
    if (to.emplace(name, kind + std::to_string(count)).second) ++count;
  };
  std::size_t size_count = 0, tensor_count = 0, result_count = 0;
  for (const auto& [name, value] : c.shapes) give(sizes, name, 'n', size_count);
  for (const TensorSpec& tensor : c.tensors) give(names, tensor.name, 't', tensor_count);
  for (const Step& step : c.steps) {
    for (const std::string& result : step.results) give(names, result, 'r', result_count);
  }
  names.insert(sizes.begin(), sizes.end());

  out.shapes.clear();
  for (const auto& [name, value] : c.shapes) out.shapes.emplace(renamed(sizes, name), value);
  for (TensorSpec& tensor : out.tensors) {
    tensor.name = renamed(names, tensor.name);
    for (Extent& extent : tensor.shape) rename_extent(sizes, extent);
    rename_extent(sizes, tensor.fill.from);
    rename_extent(sizes, tensor.fill.to);
  }
  for (Step& step : out.steps) {
    for (std::string& result : step.results) result = renamed(names, result);
    for (Argument& argument : step.arguments) rename_value(names, argument.value);
  }
  return out;
}

}  // namespace dsafuzz
