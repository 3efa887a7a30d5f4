// Contracts applied to a case: for each argument that has one, which tensor of the case holds its values, and what is
// legal given the case's sizes. The knowledge behind the `silent` verdict, mutation, advice and guards. An argument
// whose bound is unknown has no contract here: nothing is claimed that does not follow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "repro/bounds.h"
#include "repro/contract_row.h"
#include "repro/known_shapes.h"
#include "repro/step_argument.h"

namespace dsafuzz {

// An argument of a step that a contract speaks of.
struct ContractUse {
  const ContractRow* row = nullptr;
  const Step* step = nullptr;          // of the case
  const TensorSpec* tensor = nullptr;  // of the case, not in any way computed; nullptr: a number in the call
  std::optional<Number> number;        // that number
  std::string name;                    // the name the step uses for it: the tensor's, or a result made from it
  Dimensions shape;                    // of that name
  std::string data;                    // the tensor or result whose size bounds the values; may be empty
  int axis = 0;                        // of `data`; -1: its number of elements
  std::optional<std::int64_t> size;    // the bound, for rules that need one
  std::vector<std::int64_t> sizes;     // for coordinates: one bound for each row
  std::vector<std::int64_t> read;      // for used_labels: how many of each sample are read
  Bounds bounds;                       // what each element must satisfy
};

// In the order of the steps. Requires: the case is valid.
std::vector<ContractUse> contract_uses(const Case& c);
std::vector<ContractUse> contract_uses(const Case& c, const Step& step);

// Of the first use of a tensor; nothing if it has none.
std::optional<Bounds> contract_bounds(const Case& c, std::string_view tensor);

// What an element outside the bounds breaks: "not in [0, classes)".
std::string rule_text(const ContractUse& use);

}  // namespace dsafuzz
