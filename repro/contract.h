// What an operator accepts as index or class values, as far as the shapes in a case tell: the knowledge behind advice
// and guards. Only what follows from the operator's documentation; an operator not listed has no contract here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repro/case.h"

namespace dsafuzz {

// A tensor whose elements a step uses as indices.
struct IndexUse {
  const TensorSpec* tensor = nullptr;  // of the case
  std::string argument;                // the name the step uses for it: the tensor's, or a result made from it
  std::string data;                    // the tensor or result that is indexed; may be empty
  int axis = 0;                        // of `data`; -1: its number of elements
  std::int64_t from = 0, to = 0;       // legal: [from, to)
  std::vector<std::int64_t> also;      // and these (ignore_index)
  bool classes = false;                // class labels rather than positions
  std::string_view role;               // the operator's name for the argument
  std::string_view size;               // what bounds it: "classes", "rows"
};

// Uses of one step. Requires: the case is valid.
std::vector<IndexUse> index_uses(const Case& c, const Step& step);

// A tensor's elements by flat index: all of them, or, above kSearchLimit elements, those that the case sets singly.
inline constexpr std::int64_t kSearchLimit = std::int64_t{1} << 20;
std::map<std::int64_t, Number> elements_to_search(const Case& c, const TensorSpec& tensor);

// The first of them outside the legal range: flat index and value; nullopt if all are legal.
struct Offender {
  std::int64_t index = 0;
  std::int64_t value = 0;
};
std::optional<Offender> first_offender(const Case& c, const IndexUse& use);

// What of a contract the case's values break.
struct Breach {
  const Step* step = nullptr;  // of the case, as is the tensor
  const TensorSpec* tensor = nullptr;
  std::string argument;    // the operator's name for it
  std::string rule;        // "not in [0, classes)"
  std::int64_t index = 0;  // of the first such element, flat
  std::string value;       // what it is, or what was computed from all

  std::string condition() const { return argument + ": " + rule; }
  std::string text() const;  // one line for a person
};
// The first in the order of the steps. Nothing where the sizes that decide are unknown. Requires: the case is valid.
std::optional<Breach> first_breach(const Case& c);

// Shapes of tensors and of those results whose shape follows from simple rules.
std::map<std::string, std::vector<std::int64_t>> known_shapes(const Case& c);

// "cross_entropy_loss" of "aten::cross_entropy_loss.default"; the in-place underscore is taken off too.
std::string_view base_name(std::string_view op);

// The step's argument by its schema name or its position; nullptr if it is not given.
const Value* argument(const Step& step, std::string_view name, std::size_t position);

// The tensor of the case that an argument's name stands for: itself, or what a result was copied or viewed from.
const TensorSpec* source_tensor(const Case& c, std::string_view name);

}  // namespace dsafuzz
