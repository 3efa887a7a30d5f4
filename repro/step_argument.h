// Reading a step by its operator's schema: names without namespace and overload, arguments by name or position.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "repro/case.h"

namespace dsafuzz {

// "cross_entropy_loss" of "aten::cross_entropy_loss.default"; the in-place underscore is taken off too.
std::string_view base_name(std::string_view op);
bool writes_in_place(std::string_view op);  // aten::scatter_, aten::index_put_.hacked_twin

// The step's argument by its schema name or its position; nullptr if it is not given.
const Value* argument(const Step& step, std::string_view name, std::size_t position);

// What a value is, nothing if it is missing or of another kind. A shape variable counts as its number.
const Name* as_name(const Value* value);
std::optional<std::int64_t> as_integer(const Case& c, const Value* value);
std::optional<std::vector<std::int64_t>> as_integers(const Case& c, const Value* value);  // a list of numbers

}  // namespace dsafuzz
