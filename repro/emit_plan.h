// What both emitted programs have in common: how each tensor is best written, and what counts as "the bug shows".
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "repro/finding.h"

namespace dsafuzz {

struct TensorPlan {
  enum class Kind { constant, arange, literal, random };
  std::string name;
  std::vector<std::int64_t> shape;
  Dtype dtype = Dtype::float32;  // as stored: precision modes half and bfloat16 already applied
  Kind kind = Kind::constant;
  Number constant = std::int64_t{0};
  std::vector<Number> literal;                       // row-major
  std::vector<std::pair<std::int64_t, Number>> set;  // on top, by flat index
  Fill fill;                                         // random: too large to write out
  Layout layout = Layout::contiguous;                // contiguous where the layout has no effect
  int device = 0;
  bool needs_grad = false;
};

std::vector<TensorPlan> plan_tensors(const Case& c);

enum class Evidence {
  message,     // an exception with one of expected_messages in its text
  death,       // as message, but the process may die of it before it can say so; also a plain crash
  timeout,     // it does not end
  return_,     // it returns, though the input is illegal
  difference,  // its result is not the CPU's
};
Evidence evidence_of(Verdict verdict);
std::vector<std::string> expected_messages(const Finding& finding);

// The tool that shows the bug, where that is not the usual one: "racecheck"; else empty.
std::string special_tool(const Finding& finding);

bool uses_own_operators(const Case& c);  // dsafuzz::
bool uses_modules(const Case& c);        // module:

// Two comment lines for the head of a program: which bug, and what is wrong with the input. May be one.
std::vector<std::string> headline(const Finding& finding);

// The result on which backward is called: the last step's first; empty if there is none.
std::string backward_result(const Case& c);

// Shortest decimal text of a finite double that reads back the same, always with a point or an exponent.
std::string decimal(double value);

}  // namespace dsafuzz
