#include "repro/api_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>
#include <vector>

#include "repro/escape.h"
#include "repro/known_shapes.h"
#include "repro/step_argument.h"

namespace dsafuzz {
namespace {

struct Parameter {
  std::string name, otherwise;  // otherwise: its default in C++; empty: it must be given
};

std::vector<Parameter> parameters_of(std::string_view schema) {
  std::vector<Parameter> out;
  while (!schema.empty()) {
    const std::string_view one = schema.substr(0, schema.find(", "));
    schema.remove_prefix(std::min(schema.size(), one.size() + 2));
    const std::size_t equals = one.find('=');
    out.push_back({std::string(one.substr(0, equals)),
                   std::string(equals == std::string_view::npos ? "" : one.substr(equals + 1))});
  }
  return out;
}

// `none` is a word of its own for reductions, and elsewhere as good as nothing.
bool is_given(const Value* value, std::string_view parameter) {
  return value && (parameter == "reduction" || !std::holds_alternative<std::monostate>(value->v));
}

// A step's arguments by the row's parameters.
class BoundCall {
 public:
  static std::optional<BoundCall> of(const Case& c, const Step& step, const ApiName& row) {
    BoundCall out(c, step, row);
    if (step.results.size() > static_cast<std::size_t>(row.returns)) return std::nullopt;
    std::size_t position = 0;
    for (const Argument& argument : step.arguments) {
      const bool named = !argument.name.empty();
      const auto parameter = std::ranges::find(out.parameters_, argument.name, &Parameter::name);
      if (named ? parameter == out.parameters_.end() : position >= out.parameters_.size()) return std::nullopt;
      const std::string& name = named ? argument.name : out.parameters_[position++].name;
      if (!out.values_.emplace(name, &argument.value).second) return std::nullopt;
    }
    return out;
  }

  const Value* value(const std::string& name) const {
    const auto found = values_.find(name);
    return found != values_.end() && is_given(found->second, name) ? found->second : nullptr;
  }
  const std::vector<Parameter>& parameters() const { return parameters_; }

  // Every value given is passed on by the pattern.
  bool all_in(std::string_view pattern) const {
    return std::ranges::all_of(values_, [&](const auto& entry) {
      const auto& [name, value] = entry;
      return !is_given(value, name) || pattern.contains("{" + name + "}") || pattern.contains("{" + name + ":") ||
             pattern.contains("{" + name + "|");
    });
  }

  // What stands between the brackets of x[...]. A single number there, even in a tensor, selects instead of indexing:
  // then nothing is returned, and so where a tensor's shape is unknown.
  std::optional<std::string> subscript(const Value& value, const ValueText& text, std::string_view all) const {
    const auto* list = std::get_if<List>(&value.v);
    if (!list || list->empty()) return std::nullopt;
    const ProgramState state = state_before(*case_, *step_);
    std::vector<std::string> parts;
    bool any = false;
    for (const Value& item : *list) {
      const auto* name = std::get_if<Name>(&item.v);
      if (name) {
        const Dimensions* shape = state.shape(name->text);
        if (!shape || shape->empty()) return std::nullopt;
        any = true;
        parts.push_back(text(item, "indices"));
      } else if (std::holds_alternative<std::monostate>(item.v)) {
        parts.emplace_back(all);
      } else {
        return std::nullopt;
      }
    }
    return any ? std::optional(joined(parts)) : std::nullopt;
  }

 private:
  BoundCall(const Case& c, const Step& step, const ApiName& row)
      : case_(&c), step_(&step), parameters_(parameters_of(row.schema)) {}

  const Case* case_;
  const Step* step_;
  std::vector<Parameter> parameters_;
  std::map<std::string, const Value*, std::less<>> values_;
};

// The word for an enumeration's number, quoted.
std::optional<std::string> word_of(const Value& value, std::string_view parameter) {
  static constexpr std::array<std::string_view, 3> kReductions{"none", "mean", "sum"}, kModes{"sum", "mean", "max"};
  const auto& words = parameter == "reduction" ? kReductions : kModes;
  std::string_view word;
  if (std::holds_alternative<std::monostate>(value.v)) {
    word = "none";
  } else if (const auto* name = std::get_if<Name>(&value.v)) {
    word = name->text;
  } else if (const auto* text = std::get_if<std::string>(&value.v)) {
    word = *text;
  } else if (const auto* number = std::get_if<std::int64_t>(&value.v)) {
    if (*number < 0 || *number > 2) return std::nullopt;
    word = words[static_cast<std::size_t>(*number)];
  }
  if (std::ranges::find(words, word) == words.end()) return std::nullopt;
  return "\"" + std::string(word) + "\"";
}

std::optional<std::string> tuple_of(const Value& value, const ValueText& text) {
  const auto* list = std::get_if<List>(&value.v);
  if (!list || list->empty()) return std::nullopt;
  std::vector<std::string> parts;
  for (const Value& item : *list) parts.push_back(text(item, "indices"));
  return "(" + joined(parts) + (parts.size() == 1 ? ",)" : ")");
}

std::optional<std::string> list_of(const Value& value, const ValueText& text) {
  const auto* list = std::get_if<List>(&value.v);
  if (!list || list->empty()) return std::nullopt;
  std::vector<std::string> parts;
  for (const Value& item : *list) {
    const bool none = std::holds_alternative<std::monostate>(item.v);
    parts.push_back(none ? "std::nullopt" : text(item, "indices"));
  }
  return "c10::List<std::optional<at::Tensor>>({" + joined(parts) + "})";
}

// Fills `pattern` (api_name.h); nothing where an argument is missing or cannot be written in this place.
std::optional<std::string> filled(const BoundCall& call, std::string_view pattern, const ValueText& text,
                                  std::string_view all) {
  std::string out;
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] == '<') {
      const std::size_t close = pattern.find('>', at);
      const std::string_view group = pattern.substr(at + 1, close - at - 1);
      const std::size_t name = group.find('{') + 1;
      at = close + 1;
      if (!call.value(std::string(group.substr(name, group.find_first_of(":}", name) - name)))) continue;
      const auto inner = filled(call, group, text, all);
      if (!inner) return std::nullopt;
      out += *inner;
      continue;
    }
    const bool placeholder = pattern[at] == '{' && at + 1 < pattern.size() &&
                             (std::isalnum(static_cast<unsigned char>(pattern[at + 1])) || pattern[at + 1] == '_');
    if (!placeholder) {
      out += pattern[at++];
      continue;
    }
    const std::size_t close = pattern.find('}', at);
    std::string_view inside = pattern.substr(at + 1, close - at - 1);
    at = close + 1;
    std::string_view otherwise, kind;
    if (const std::size_t bar = inside.find('|'); bar != std::string_view::npos) {
      otherwise = inside.substr(bar + 1);
      inside = inside.substr(0, bar);
    }
    if (const std::size_t colon = inside.find(':'); colon != std::string_view::npos) {
      kind = inside.substr(colon + 1);
      inside = inside.substr(0, colon);
    }
    const std::string name(inside);
    const Value* value = call.value(name);
    if (!value) {
      if (otherwise.empty()) return std::nullopt;
      out += otherwise;
      continue;
    }
    std::optional<std::string> part;
    if (kind == "word") {
      part = word_of(*value, name);
    } else if (kind == "subscript") {
      part = call.subscript(*value, text, all);
    } else if (kind == "tuple") {
      part = tuple_of(*value, text);
    } else if (kind == "list") {
      part = list_of(*value, text);
    } else {
      part = text(*value, name);
    }
    if (!part) return std::nullopt;
    out += *part;
  }
  return out;
}

}  // namespace

const ApiName* find_api_name(std::string_view op) {
  static const auto* const kByName = [] {
    auto* rows = new std::map<std::string_view, const ApiName*>;
    for (const ApiName& row : api_names()) rows->emplace(row.op, &row);
    return rows;
  }();
  if (!op.starts_with("aten::")) return nullptr;
  op.remove_prefix(6);
  const auto exact = kByName->find(op);
  const auto found = exact == kByName->end() ? kByName->find(op.substr(0, op.find('.'))) : exact;
  return found == kByName->end() ? nullptr : found->second;
}

std::optional<std::string> python_api_call(const Case& c, const Step& step, const ValueText& text) {
  const ApiName* row = find_api_name(step.op);
  if (!row) return std::nullopt;
  const auto call = BoundCall::of(c, step, *row);
  if (!call || !call->all_in(row->python)) return std::nullopt;
  const int returns = row->python_returns > 0 ? row->python_returns : row->returns;
  if (step.results.size() > static_cast<std::size_t>(returns)) return std::nullopt;
  auto out = filled(*call, row->python, text, ":");
  if (!out || step.results.empty() || returns == 1) return out;
  if (step.results.size() == static_cast<std::size_t>(returns)) return out;
  return *out + (step.results.size() == 1 ? "[0]" : "[:" + std::to_string(step.results.size()) + "]");
}

std::optional<std::string> cpp_api_call(const Case& c, const Step& step, const ValueText& text) {
  const ApiName* row = find_api_name(step.op);
  if (!row || row->cpp.empty()) return std::nullopt;
  const auto call = BoundCall::of(c, step, *row);
  if (!call) return std::nullopt;
  if (row->cpp.contains('{')) {
    if (!call->all_in(row->cpp)) return std::nullopt;
    return filled(*call, row->cpp, text, "at::indexing::Slice()");
  }
  std::vector<std::string> parts;
  std::size_t needed = 0;  // what follows the last given argument is left to its default
  for (const Parameter& parameter : call->parameters()) {
    const Value* value = call->value(parameter.name);
    if (!value && parameter.otherwise.empty()) {
      // Only a last parameter may be left out without a default: another overload has none.
      if (&parameter == &call->parameters().back()) break;
      return std::nullopt;
    }
    parts.push_back(value ? text(*value, parameter.name) : parameter.otherwise);
    if (value) needed = parts.size();
  }
  parts.resize(needed);
  if (!row->cpp.starts_with("self.")) return std::string(row->cpp) + "(" + joined(parts) + ")";
  const std::string object = parts.front();
  parts.erase(parts.begin());
  return object + std::string(row->cpp.substr(4)) + "(" + joined(parts) + ")";
}

}  // namespace dsafuzz
