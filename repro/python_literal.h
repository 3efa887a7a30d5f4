// Numbers, shapes and lists as Python writes them.
#pragma once

#include <string>
#include <vector>

#include "repro/emit_plan.h"

namespace dsafuzz::python {

std::string torch_dtype(Dtype dtype);                                               // torch.float16
std::string number(const Number& n, Dtype dtype);                                   // 1, 1.0, True, float("nan")
std::string sizes(const std::vector<std::int64_t>& shape);                          // 3, (2, 3), ()
std::string tuple(const std::vector<std::int64_t>& shape);                          // as the arguments of a call: (3)
std::string index_text(std::int64_t flat, const std::vector<std::int64_t>& shape);  // an element: 0, 3

// The values of a literal tensor: nested lists where they fit on a line, else one flat list, wrapped.
std::string literal_list(const TensorPlan& plan, int indent);

// The call that draws a random tensor, without its last parenthesis.
std::string random_call(const Fill& fill, const std::vector<std::int64_t>& shape);

}  // namespace dsafuzz::python
