// What a user calls to reach an ATen operator: `torch.nn.functional.embedding(indices, weight)` for
// aten::embedding(weight, indices), `x[index]` for aten::index. Data: one row an operator (api_names.cpp); the emitters
// fill it with a step's arguments.
//
// A row stands for exactly the operator's work. Where a step has an argument that the user's call cannot pass on, the
// row does not apply and the operator is called by its name.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "repro/case.h"

namespace dsafuzz {

struct ApiName {
  // After "aten::": with an overload, that one only; without, the operator under every overload that has no row.
  std::string_view op;
  // Its parameters in order; those that may be left out with their default in C++: "self, dim=-1".
  std::string_view schema;
  // Python. `{name}` is an argument; `<...>` is left out where the argument in it is not given or none.
  // `{name:word}` is an enumeration by its word (reduction, mode), `{name:subscript}` what stands between brackets,
  // `{name:tuple}` a list as a tuple, `{name:list}` one as C++'s list of optional tensors, `{name|text}` the text where
  // the argument is not given.
  std::string_view python;
  // C++: "at::gather", called with arguments in order; "self.take", a method of the first; a template as in Python;
  // empty: none.
  std::string_view cpp = {};
  int returns = 1;         // tensors that the operator returns; 2 and more as a tuple
  int python_returns = 0;  // where the user's call in Python differs; 0: it does not
};

std::span<const ApiName> api_names();
// The row of "aten::scatter_.src"; nullptr if there is none.
const ApiName* find_api_name(std::string_view op);

// How a language writes a value for a parameter.
using ValueText = std::function<std::string(const Value& value, const std::string& parameter)>;

// The user's call for a step; nothing if the step has none. `step` is one of the case.
std::optional<std::string> python_api_call(const Case& c, const Step& step, const ValueText& text);
std::optional<std::string> cpp_api_call(const Case& c, const Step& step, const ValueText& text);

}  // namespace dsafuzz
