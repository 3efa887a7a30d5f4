// From a step's words to a dispatcher call: which overload, and each argument as the schema types it.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <map>
#include <string>
#include <vector>

#include "repro/case.h"
#include "repro/result.h"

namespace dsafuzz {

using Values = std::map<std::string, c10::IValue, std::less<>>;  // tensors and results by name

struct OperatorCall {
  c10::OperatorHandle op;
  std::vector<c10::IValue> stack;
};

// Binds the step's arguments to the operator's schema. Without an overload in the step, the first overload (in
// alphabetical order, the unnamed one first, none that writes into an `out`) that the arguments fit is taken.
// Problem: no such operator, an unknown or missing argument, or a word that means nothing for its type.
Result<OperatorCall> bind_operator(const Step& step, const Values& values, const Shapes& shapes, c10::Device device);

// Reads the names of all operators, which the first bind_operator does otherwise: some milliseconds that a process
// spares its forks.
void index_operators();

c10::ScalarType to_scalar_type(Dtype dtype);
std::optional<Dtype> to_dtype(c10::ScalarType type);

}  // namespace dsafuzz
