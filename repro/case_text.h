// Cases as canonical YAML text. parse_case(to_yaml(c)) == c, and to_yaml is a pure function of the case.
//
//   case: linear_cross_entropy
//   seed: 42
//   precision: none                       # omitted when none
//   phase: backward                       # omitted when forward
//   shapes: {batch: 1, classes: 1}
//   tensors:
//     logits: {shape: [batch, classes], dtype: float32, fill: 0}
//     labels: {shape: [batch], dtype: int64, fill: [1], set: {0: 5}, layout: offset}
//   steps:
//     - loss = aten::cross_entropy_loss(logits, labels, reduction=mean)
//
// Fills: a number (constant), a list (literal), `arange`, `randn`, `{uniform: [0, 1]}`, `{randint: [0, classes]}`.
// Numbers may be .nan, .inf, -.inf. A scenario file (scenario.h) uses the same words.
#pragma once

#include <string>
#include <string_view>

#include "repro/case.h"

namespace dsafuzz {

std::string to_yaml(const Case& c);
// `file` is only named in problems ("case.yaml:4:3: ..."). The text may come from anywhere: it is bounded, checked,
// and never executed.
Result<Case> parse_case(std::string_view text, const std::string& file);
Result<Case> load_case(const std::string& path);

// One step, `results = OPERATOR(arguments)`, and back. Named arguments are written `name=value`: a colon would make a
// YAML mapping of the line. Problem: `where` is the column, as "col N".
std::string to_text(const Step& step);
Result<Step> parse_step(std::string_view text);
std::string to_text(const Value& value);
std::string to_text(const Number& number);  // shortest text that reads back as the same number

}  // namespace dsafuzz
