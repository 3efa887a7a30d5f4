#include "repro/step_argument.h"

namespace dsafuzz {
namespace {

std::string_view without_overload(std::string_view op) {
  if (const std::size_t colon = op.rfind("::"); colon != std::string_view::npos) op.remove_prefix(colon + 2);
  return op.substr(0, op.find('.'));
}

}  // namespace

bool writes_in_place(std::string_view op) {
  const std::string_view name = without_overload(op);
  return name.size() > 1 && name.ends_with('_');
}

std::string_view base_name(std::string_view op) {
  std::string_view name = without_overload(op);
  if (writes_in_place(op)) name.remove_suffix(1);
  return name;
}

const Value* argument(const Step& step, std::string_view name, std::size_t position) {
  for (const Argument& each : step.arguments) {
    if (each.name == name) return &each.value;
  }
  const bool positional = position < step.arguments.size() && step.arguments[position].name.empty();
  return positional ? &step.arguments[position].value : nullptr;
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

std::optional<std::vector<std::int64_t>> as_integers(const Case& c, const Value* value) {
  const List* list = value ? std::get_if<List>(&value->v) : nullptr;
  if (!list) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const Value& each : *list) {
    const auto number = as_integer(c, &each);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace dsafuzz
