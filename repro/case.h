// A case: one concrete input of a program. It holds the program too (its steps are ATen operators called by schema
// name), so a case file stands alone: it can be replayed, reduced and emitted without its scenario.
//
// Sizes stay symbolic (shape variables), so that one number shrinks every axis tied to it. Tensor contents are a
// fill plus single elements set on top: a batch of 4,096 healthy labels with one bad one is two facts, not 4,096.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "repro/dtype.h"
#include "repro/extent.h"

namespace dsafuzz {

// An element's value: exact for integer dtypes, double for floating ones. NaN equals NaN here (see number_equal).
using Number = std::variant<std::int64_t, double>;
bool number_equal(const Number& a, const Number& b);
double as_double(const Number& n);

// What a tensor holds before single elements are set.
struct Fill {
  enum class Kind : std::uint8_t { constant, arange, uniform, randn, randint, literal };
  Kind kind = Kind::constant;
  Number constant = std::int64_t{0};  // constant
  double low = 0, high = 1;           // uniform: [low, high)
  Extent from{"0"}, to{"1"};          // randint: [from, to), sizes allowed
  std::vector<Number> literal;        // literal: flat, row-major; element i is literal[i % size], never empty
  friend bool operator==(const Fill&, const Fill&);
};

struct TensorSpec {
  std::string name;  // [A-Za-z_][A-Za-z0-9_.]*, unique in the case
  std::vector<Extent> shape;
  Dtype dtype = Dtype::float32;
  Fill fill;
  std::map<std::int64_t, Number> set;  // flat row-major index -> value; indices past the end are ignored
  Layout layout = Layout::contiguous;
  bool parameter = false;  // requires grad; follows the precision mode like a model's weight
  int device = 0;          // added to the run's device number: cuda:0 + 1
  friend bool operator==(const TensorSpec&, const TensorSpec&);
};

// A step's argument. Name refers to a tensor, an earlier result or a shape variable; any other word stands for itself
// (mean, float16) and is given its meaning by the operator's schema.
struct Value;
using List = std::vector<Value>;
struct Name {
  std::string text;
  friend bool operator==(const Name&, const Name&) = default;
};
struct Value {
  std::variant<std::monostate /* none */, bool, std::int64_t, double, std::string /* quoted text */, Name, List> v;
  friend bool operator==(const Value&, const Value&);
};

struct Argument {
  std::string name;  // empty: positional
  Value value;
  friend bool operator==(const Argument&, const Argument&) = default;
};

// `out, indices = aten::max_pool2d_with_indices(input, [2, 2], stride=[1, 1])`; the operator may carry an overload:
// `aten::sum.dim_IntList`. `module:FILE.pt` runs the forward of a TorchScript file that lies beside the case.
struct Step {
  std::vector<std::string> results;
  std::string op;
  std::vector<Argument> arguments;
  friend bool operator==(const Step&, const Step&) = default;
};

struct Case {
  std::string scenario;    // its name: [a-z][a-z0-9_]*
  std::uint64_t seed = 0;  // of the random fills
  Precision precision = Precision::none;
  Phase phase = Phase::forward;
  Shapes shapes;
  std::vector<TensorSpec> tensors;
  std::vector<Step> steps;
  friend bool operator==(const Case&, const Case&) = default;

  const TensorSpec* find_tensor(std::string_view name) const;
  TensorSpec* find_tensor(std::string_view name);
};

// 16 hex digits: XXH3 of the canonical YAML text. Equal cases have equal ids.
std::string case_id(const Case& c);

// The concrete shape; Problem for an unknown variable, a negative size, or more elements than kElementLimit, which
// leaves room for what an index of 32 bits cannot count. Whether so much memory is there is found when the case runs.
inline constexpr std::int64_t kElementLimit = std::int64_t{1} << 33;
inline constexpr std::int64_t kListedElementLimit = std::int64_t{1} << 26;  // of a tensor whose values are listed
Result<std::vector<std::int64_t>> concrete_shape(const TensorSpec& tensor, const Shapes& shapes);
std::int64_t element_count(const std::vector<std::int64_t>& shape);  // 1 for rank 0

// Of all tensors; one whose shape cannot be told counts nothing.
std::int64_t element_count(const Case& c);

// Well-formed: names unique and legal, every extent evaluates, operators are named rightly, counts and sizes within
// limits. The Problem names the part. A case from a file passes this first. Whether an argument's word is a tensor
// is decided by the operator's schema, so an undefined one is found only when the case runs.
Result<void> validate(const Case& c);

}  // namespace dsafuzz
